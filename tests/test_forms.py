"""What the form takes, and what it says about the rest."""

from __future__ import annotations

import re

import pytest

from capture.forms import CheckForm
from capture.providers import registry

pytestmark = pytest.mark.usefixtures("simulated")


def fill_in(**fields) -> CheckForm:
    usual = {
        "brand": "Northwind",
        "competitors": "Contoso\nFabrikam",
        "prompts": "Which espresso machine is best?\nWhich is cheapest?",
        "providers": ["chatgpt", "perplexity"],
        "country": "de",
        "language": "DE",
        "nonce": "abc",
    }
    return CheckForm(usual | fields)


def order_of(**fields):
    form = fill_in(**fields)
    assert form.is_valid(), form.errors
    return form.to_order()


def errors_of(**fields) -> dict[str, list[str]]:
    form = fill_in(**fields)
    assert not form.is_valid()
    return {field: [str(message) for message in messages] for field, messages in form.errors.items()}


def only_error(**fields) -> tuple[str, str]:
    """The one message, and the field that it stands beside."""
    ((field, messages),) = errors_of(**fields).items()
    (message,) = messages
    return field, message


class TestTaken:
    def test_a_form_becomes_an_order(self):
        order = order_of()

        assert order.brand == "Northwind"
        assert order.competitors == ("Contoso", "Fabrikam")
        assert order.prompts == ("Which espresso machine is best?", "Which is cheapest?")
        assert order.providers == ("chatgpt", "perplexity")
        assert (order.country, order.language, order.samples) == ("DE", "de", 1)

    def test_the_same_form_is_the_same_order_and_an_edited_one_is_not(self):
        assert order_of().submit_token == order_of().submit_token
        assert order_of().submit_token != order_of(prompts="Another?").submit_token
        assert order_of().submit_token != order_of(nonce="def").submit_token

    def test_blank_lines_and_repeated_questions_are_dropped(self):
        order = order_of(prompts="\n  Which is  best?\r\n\r\nwhich is best?\n\nAnd cheapest?  \n")

        assert order.prompts == ("Which is  best?", "And cheapest?")

    def test_spaces_around_and_within_names_do_not_count(self):
        order = order_of(brand="  North   wind ", competitors="  Con  toso\n\n")

        assert (order.brand, order.competitors) == ("North wind", ("Con toso",))

    def test_competitors_country_and_language_may_be_left_out(self):
        order = order_of(competitors="", country="", language="")

        assert (order.competitors, order.country, order.language) == ((), "", "")

    @pytest.mark.parametrize(("country", "language"), [("de", "DE"), (" De ", " dE "), ("TW", "zh"), ("GB", "cy")])
    def test_codes_are_taken_in_any_case(self, country, language):
        order = order_of(country=country, language=language)

        assert (order.country, order.language) == (country.strip().upper(), language.strip().lower())

    def test_systems_come_in_their_own_order_and_once(self):
        assert order_of(providers=["perplexity", "chatgpt", "perplexity"]).providers == ("chatgpt", "perplexity")

    def test_a_form_without_its_random_value_gets_one(self):
        assert order_of(nonce="").nonce != order_of(nonce="").nonce

    def test_names_and_questions_may_be_in_any_script(self):
        order = order_of(brand="日清", prompts="最好的咖啡机是哪个？\nما هي أفضل آلة؟")

        assert order.brand == "日清"
        assert len(order.prompts) == 2

    def test_a_question_may_be_as_long_as_is_allowed(self, settings):
        assert order_of(prompts="x" * settings.CAPTURE_MAX_PROMPT_LENGTH)


class TestRefused:
    @pytest.mark.parametrize("brand", ["", "   ", None])
    def test_no_brand(self, brand):
        assert only_error(brand=brand) == ("brand", "Which brand is it about?")

    @pytest.mark.parametrize("brand", ["123", "!?", "…"])
    def test_a_brand_with_no_letters(self, brand):
        assert only_error(brand=brand) == ("brand", f"“{brand}” has no letters; a name needs at least one.")

    def test_a_brand_that_is_too_long(self):
        field, message = only_error(brand="N" * 101)

        assert field == "brand"
        assert message.endswith("has 101 characters; a name has at most 100.")

    @pytest.mark.parametrize("prompts", ["", " \n \n", None])
    def test_no_question(self, prompts):
        assert only_error(prompts=prompts) == ("prompts", "Ask at least one question.")

    def test_a_question_of_20000_characters(self):
        field, message = only_error(prompts="Short?\n" + "x" * 20_000)

        assert field == "prompts"
        assert message.endswith("has 20,000 characters; at most 2,000 are allowed.")
        assert len(message) < 120

    def test_500_questions(self):
        message = "These are 500 questions; at most 100 are allowed."
        assert only_error(prompts="\n".join(f"Question {number}?" for number in range(500))) == ("prompts", message)

    def test_more_jobs_than_allowed(self, settings):
        settings.CAPTURE_MAX_JOBS = 3

        assert only_error() == ("prompts", "2 questions to 2 AI systems make 4 jobs; at most 3 are allowed.")

    def test_more_jobs_than_allowed_by_samples(self, settings):
        settings.CAPTURE_MAX_JOBS = 19

        message = "2 questions to 2 AI systems, 5 times each, make 20 jobs; at most 19 are allowed."
        assert only_error(samples="5") == ("prompts", message)

    @pytest.mark.parametrize("samples", ["0", "6", "-1", "x"])
    def test_samples_out_of_range(self, samples):
        assert only_error(samples=samples) == ("samples", "From 1 to 5, please.")

    def test_no_system(self):
        assert only_error(providers=[]) == ("providers", "Choose an AI system.")

    def test_an_unknown_system(self):
        message = f"There is no AI system “altavista”. Available: {', '.join(registry.by_slug)}."
        assert only_error(providers=["altavista"]) == ("providers", message)

    @pytest.mark.usefixtures("only_chatgpt")
    def test_a_system_without_a_key(self):
        message = "Perplexity cannot be asked here: PERPLEXITY_API_KEY is not set. Available: chatgpt."
        assert only_error(providers=["chatgpt", "perplexity"]) == ("providers", message)

    def test_a_competitor_that_is_the_brand_itself(self):
        assert only_error(competitors="Contoso\nNORTHWIND") == ("competitors", "“Northwind” is the brand itself.")

    def test_a_competitor_that_is_there_twice(self):
        assert only_error(competitors="Contoso\nContoSO") == ("competitors", "“ContoSO” is there twice.")

    def test_a_competitor_with_no_letters(self):
        assert only_error(competitors="Contoso\n--") == (
            "competitors",
            "“--” has no letters; a name needs at least one.",
        )

    def test_too_many_competitors(self, settings):
        settings.CAPTURE_MAX_COMPETITORS = 1

        assert only_error() == ("competitors", "These are 2 competitors; at most 1 are allowed.")

    @pytest.mark.parametrize("field", ["brand", "competitors", "prompts", "country", "language"])
    @pytest.mark.parametrize("character", ["\x00", "\ud800"])
    def test_characters_that_cannot_be_stored(self, field, character):
        found, message = only_error(**{field: f"a{character}b"})

        assert found == field
        assert "no text" in message

    @pytest.mark.parametrize("code", ["D", "DEU", "4D", "ÄÖ", "XX", "EU", "UK"])
    def test_a_country_that_there_is_none_of(self, code):
        assert only_error(country=code) == (
            "country",
            f"There is no country “{code}”. A code has two letters, like DE.",
        )

    @pytest.mark.parametrize("code", ["d", "deu", "4d", "äö", "xx", "zz"])
    def test_a_language_that_there_is_none_of(self, code):
        message = f"There is no language “{code}”. A code has two letters, like de."
        assert only_error(language=code) == ("language", message)

    def test_a_code_that_is_a_book_is_not_told_whole(self):
        _, message = only_error(country="X" * 10_000)

        assert len(message) < 120

    def test_each_field_has_its_own_message(self):
        assert list(errors_of(brand="", prompts="", providers=["x"])) == ["brand", "prompts", "providers"]


class TestShown:
    def test_all_systems_are_chosen_at_first(self):
        systems = CheckForm().systems

        assert [system.slug for system in systems] == list(registry.by_slug)
        assert all(system.checked and system.simulated for system in systems)

    @pytest.mark.usefixtures("only_chatgpt")
    def test_a_system_without_a_key_says_what_to_set_and_is_not_chosen(self):
        chatgpt, perplexity, *_ = CheckForm().systems

        assert (chatgpt.missing, chatgpt.checked, chatgpt.simulated) == ("", True, False)
        assert (perplexity.missing, perplexity.checked) == ("PERPLEXITY_API_KEY", False)

    def test_what_was_chosen_stays_chosen(self):
        systems = fill_in(providers=["perplexity"], brand="").systems

        assert [system.slug for system in systems if system.checked] == ["perplexity"]

    def test_a_system_that_takes_one_sample_says_why(self):
        notes = {system.slug: system.notes for system in CheckForm().systems}

        assert any("sample" in note for note in notes["copilot"])
        assert registry.by_slug["copilot"].samples_note in notes["google_ai"]

    def test_two_forms_have_two_random_values(self):
        assert CheckForm()["nonce"].value() != CheckForm()["nonce"].value()

    def test_countries_and_languages_are_told_by_their_names_in_order(self):
        form = fill_in(country="de", language="FR", brand="")

        assert '<option value="DE" selected>Germany</option>' in str(form["country"])
        assert '<option value="FR" selected>' not in str(form["language"])
        assert '<option value="fr" selected>French</option>' in str(form["language"])
        names = re.findall(r'<option value="[A-Z]{2}"[^>]*>([^<]*)<', str(form["country"]))
        assert names[:2] == ["Afghanistan", "Åland Islands"]
        assert len(names) > 240
