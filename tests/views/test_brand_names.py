"""The page on which the names of a brand and its competitors are changed, and their preview."""

from __future__ import annotations

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from capture import queue
from capture.forms.names import BLANKS, MOST_COMPETITORS
from capture.models import Brand, Capture, Competitor, HistoryMark
from tests.factories import complete_one, make_check, make_user

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def user():
    return make_user()


@pytest.fixture
def brand(user, client) -> Brand:
    """Northwind, against Contoso; its user is logged in."""
    queue.cancel(make_check(user).jobs.all())
    client.force_login(user)
    return Brand.objects.get()


def address(brand: Brand, name: str = "brand_names") -> str:
    return reverse(f"capture:{name}", args=[brand.uuid])


def typed(brand: Brand, *rivals: dict[str, object], **own: object) -> dict[str, object]:
    """The form as the browser sends it: the brand's and Contoso's names, changed, and new competitors."""
    kept = list(brand.competitors.order_by(F("archived_at").desc(nulls_first=True), "pk")[: MOST_COMPETITORS - BLANKS])
    total = max(len(rivals), len(kept))
    data: dict[str, object] = {
        "edition": Brand.objects.get(pk=brand.pk).edition,
        "rivals-TOTAL_FORMS": total + 1,
        "rivals-INITIAL_FORMS": len(kept),
    }
    data |= {f"own-{field}": value for field, value in ({"name": brand.name} | own).items()}
    for index in range(total):
        usual = {"name": kept[index].name, "number": kept[index].pk} if index < len(kept) else {}
        fields = usual | (rivals[index] if index < len(rivals) else {})
        data |= {f"rivals-{index}-{field}": value for field, value in fields.items()}
    # A browser sends the empty fields as well.
    return data | {f"rivals-{total}-{field}": "" for field in ("name", "aliases", "domains", "number")}


def answer_names(brand: Brand, user, text: str) -> None:
    complete_one(make_check(user).jobs.get(), text)


class TestChanging:
    def test_all_names_of_the_brand(self, client, brand):
        sent = typed(
            brand, name="North Wind", aliases="NW Labs\nnorthwind.com\n", domains="https://www.northwind.com/de"
        )

        response = client.post(address(brand), sent | {"own-match_case": "on"}, follow=True)

        brand.refresh_from_db()
        assert response.redirect_chain == [(address(brand), 302)]
        assert "Stored answers are read again" in response.content.decode()
        assert (brand.name, brand.aliases, brand.match_case) == ("North Wind", ["NW Labs", "northwind.com"], True)
        assert brand.domains == ["northwind.com"]
        assert HistoryMark.objects.get().after["brand"]["name"] == "North Wind"

    def test_a_competitor_is_added_and_changed(self, client, brand):
        client.post(address(brand), typed(brand, {"aliases": "Contoso Labs"}, {"name": "Fabrikam"}))

        assert list(Competitor.objects.order_by("pk").values_list("name", "aliases")) == [
            ("Contoso", ["Contoso Labs"]),
            ("Fabrikam", []),
        ]

    def test_a_competitor_is_archived_and_comes_back(self, client, brand):
        client.post(address(brand), typed(brand, {"archived": "on"}))
        assert Competitor.objects.get().archived_at is not None
        assert Brand.objects.get().names()["competitors"] == []

        client.post(address(brand), typed(brand))

        assert Competitor.objects.get().archived_at is None

    def test_with_more_archived_competitors_than_the_form_has_room_for(self, client, brand):
        old = Competitor.objects.bulk_create(
            Competitor(brand=brand, name=f"Old {number}", archived_at=timezone.now()) for number in range(200)
        )

        archived: list[dict[str, object]] = [{"archived": "on"}] * (MOST_COMPETITORS - BLANKS - 1)
        sent = typed(brand, {"aliases": "Contoso Ltd"}, *archived)

        response = client.post(address(brand), sent, follow=True)

        assert "Saved." in response.content.decode()
        assert Competitor.objects.get(name="Contoso").aliases == ["Contoso Ltd"]
        assert Competitor.objects.filter(archived_at__isnull=False).count() == len(old)

    def test_nothing_changed_is_no_edition(self, client, brand):
        edition = brand.edition

        response = client.post(address(brand), typed(brand), follow=True)

        assert "Nothing was changed." in response.content.decode()
        assert Brand.objects.get().edition == edition
        assert not HistoryMark.objects.exists()

    def test_what_a_check_asked_about_stays(self, client, brand, user):
        before = make_check(user).names

        client.post(address(brand), typed(brand, {"archived": "on"}, name="Else"))

        assert brand.checks.latest("pk").names == before

    def test_nothing_is_read_in_the_request(self, client, brand, user):
        answer_names(brand, user, "Northwind leads.")

        client.post(address(brand), typed(brand, name="Else"))

        assert Capture.objects.answered().get().edition < Brand.objects.get().edition
        assert "Some stored answers are still to be read" in client.get(address(brand)).content.decode()


class TestWhatIsRefused:
    def refused(self, client, brand, sent) -> str:
        response = client.post(address(brand), sent)
        assert response.status_code == 200
        assert not HistoryMark.objects.exists()
        assert "Nothing was saved yet." in response.content.decode()
        return str(response.content.decode())

    def test_the_same_alias_on_two(self, client, brand):
        page = self.refused(client, brand, typed(brand, {"aliases": "NW Labs"}, aliases="nw labs"))

        assert "“nw labs” would be found as Contoso as well." in page
        assert "“NW Labs” would be found as Northwind as well." in page

    def test_a_competitor_that_is_there_already(self, client, brand):
        assert "would be found as Contoso" in self.refused(client, brand, typed(brand, {}, {"name": "contoso"}))

    def test_the_same_domain_on_two(self, client, brand):
        sent = typed(brand, {"domains": "shop.example"}, domains="shop.example")

        assert "shop.example is Northwind’s already." in self.refused(client, brand, sent)

    def test_a_name_and_a_domain_at_once(self, client, brand):
        page = self.refused(
            client, brand, typed(brand, {"name": "Northwind", "domains": "a.example"}, domains="a.example")
        )

        assert "“Northwind” would be found as Northwind as well." in page
        assert "a.example is Northwind’s already." in page

    def test_more_competitors_than_are_looked_for(self, client, brand):
        rivals: list[dict[str, object]] = [{"name": f"Rival {number}x"} for number in range(50)]

        assert "At most 50 competitors are looked for." in self.refused(client, brand, typed(brand, {}, *rivals))

    def test_what_is_no_domain(self, client, brand):
        assert "“nothing” is no domain" in self.refused(client, brand, typed(brand, domains="nothing"))

    def test_no_name(self, client, brand):
        assert "It needs a name." in self.refused(client, brand, typed(brand, name=" "))

    def test_an_alias_without_letters(self, client, brand):
        assert "has no letters" in self.refused(client, brand, typed(brand, aliases="!!"))

    def test_very_many_aliases(self, client, brand):
        aliases = "\n".join(f"name {number}" for number in range(21))

        assert "These are 21; at most 20" in self.refused(client, brand, typed(brand, aliases=aliases))

    def test_names_that_somebody_else_has_changed_meanwhile(self, client, brand):
        sent = typed(brand, name="Mine") | {"edition": brand.edition - 1}

        assert "Somebody has changed these names" in self.refused(client, brand, sent)
        assert Brand.objects.get().name == "Northwind"

    def test_the_name_of_another_brand(self, client, brand, user):
        make_check(user, brand="Other")

        assert "Another brand of your team" in self.refused(client, brand, typed(brand, name="other"))

    def test_a_competitor_of_another_brand(self, client, brand, user):
        make_check(user, brand="Other", competitors=("Theirs",))
        theirs = Competitor.objects.get(name="Theirs")

        self.refused(client, brand, typed(brand, {"number": theirs.pk, "name": "Mine"}))

        assert Competitor.objects.get(pk=theirs.pk).name == "Theirs"


class TestWarnings:
    def test_a_short_name_and_a_word(self, client, brand):
        Brand.objects.update(name="Apple", aliases=["QX"])

        page = client.get(address(brand)).content.decode()

        assert "“Apple” is also a common word" in page
        assert "“QX” is short" in page

    def test_none_where_case_counts(self, client, brand):
        Brand.objects.update(name="Apple", match_case=True)

        assert "common word" not in client.get(address(brand)).content.decode()


class TestPreview:
    def preview(self, client, brand, sent, **headers) -> str:
        response = client.post(address(brand, "preview_names"), sent, headers=headers)
        assert response.status_code == 200
        return " ".join(response.content.decode().split())

    def test_it_says_what_a_new_alias_would_hit(self, client, brand, user):
        answer_names(brand, user, "Northwind leads.")
        answer_names(brand, user, "Try the Breeze 3 by night.")

        page = self.preview(client, brand, typed(brand, aliases="Breeze"), **HTMX)

        assert "newest 2 answers" in page
        assert "would be named in 2 of 2; it is in 1 now." in page
        assert 'Try the <mark class="own">Breeze</mark> 3 by night.' in page
        assert "<html" not in page

    def test_without_htmx_it_is_the_page_with_all_that_was_typed(self, client, brand, user):
        answer_names(brand, user, "Northwind leads.")

        page = self.preview(client, brand, typed(brand, aliases="Breeze"))

        assert "Breeze</textarea>" in page
        assert "would be named in 1 of 1; it is in 1 now." in page

    def test_nothing_is_saved(self, client, brand):
        self.preview(client, brand, typed(brand, name="Else"))

        assert Brand.objects.get().name == "Northwind"

    def test_what_is_wrong_is_told(self, client, brand):
        assert "It needs a name." in self.preview(client, brand, typed(brand, name=""), **HTMX)

    def test_real_answers_only_where_there_are_any(self, client, brand, user):
        answer_names(brand, user, "Northwind leads.")
        answer_names(brand, user, "Northwind leads.")
        Capture.objects.filter(pk=Capture.objects.latest("pk").pk).update(simulated=False)

        page = self.preview(client, brand, typed(brand), **HTMX)

        assert "would be named in 1 of 1" in page
        assert "simulated" not in page

    def test_hostile_answers_stay_text(self, client, brand, user):
        answer_names(brand, user, "<script>Breeze</script> <b>Breeze</b>")

        page = self.preview(client, brand, typed(brand, aliases="Breeze"), **HTMX)

        assert "<b>" not in page
        assert "<script>" not in page


@pytest.mark.parametrize(
    ("name", "method"), [("brand_names", "get"), ("brand_names", "post"), ("preview_names", "post")]
)
def test_another_teams_brand_is_not_there(client, brand, name, method):
    client.force_login(make_user())

    response = getattr(client, method)(address(brand, name), typed(brand, name="Stolen"))

    assert response.status_code == 404
    assert Brand.objects.get().name == "Northwind"


def test_whoever_is_not_logged_in_is_sent_to_log_in(client, brand):
    client.logout()

    assert client.get(address(brand)).status_code == 302


def test_the_list_of_brands_leads_there(client, brand):
    assert address(brand) in client.get(reverse("capture:brands")).content.decode()
