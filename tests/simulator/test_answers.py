"""What is said, before a system gives it its form."""

from simulator.answers import HOSTILE, compose, markdown
from simulator.pages import slug

PROMPT = "Is Acme Beans the best espresso machine for a small kitchen?"


def text_of(system="chatgpt", prompt=PROMPT, sample=0, seed=0):
    return markdown(compose(seed, system, prompt, sample), lambda page, number: f"[{number}]", gap="")[0]


def test_the_same_question_gets_the_same_answer():
    assert text_of() == text_of()


def test_answers_differ_by_system_sample_and_seed():
    texts = {text_of(), text_of(system="perplexity"), text_of(sample=1), text_of(seed=1)}

    assert len(texts) == 4


def test_a_brand_in_the_question_is_in_most_answers_but_not_in_all():
    named = sum("Acme Beans" in text_of(sample=sample) for sample in range(100))

    assert 50 < named < 100


def test_an_invented_brand_is_in_some_answers_but_not_in_all():
    named = sum("Brewhollow" in text_of(sample=sample) for sample in range(100))

    assert 0 < named < 100


def test_systems_prefer_different_brands():
    shares = {
        system: sum("Kaffingo" in text_of(system=system, sample=sample) for sample in range(100))
        for system in ("chatgpt", "perplexity", "gemini", "copilot")
    }

    assert len(set(shares.values())) > 1


def test_some_citations_stand_behind_emoji_and_accents():
    texts = [text_of(sample=sample) for sample in range(40)]

    assert any(not text[: text.index("[")].isascii() for text in texts)
    assert any("☕" in text for text in texts)


def test_marks_tell_where_they_stand():
    answer = compose(0, "chatgpt", PROMPT, 3)

    text, marks = markdown(answer, lambda page, number: f"<{page.url}>", gap=" ")

    assert marks
    assert all(text[mark.start : mark.end] == f"<{answer.pages[mark.page].url}>" for mark in marks)


def test_it_is_markdown_with_headings_and_a_list():
    text = text_of()

    assert text.count("\n## ") == 2
    assert text.count("\n- **") >= 2


def test_without_a_search_nothing_is_cited():
    answer = compose(0, "chatgpt", PROMPT, 0, searches=False)

    assert (answer.pages, answer.queries) == ((), ())
    assert markdown(answer, lambda page, number: "!", gap="")[1] == []


def test_strange_questions_get_answers_too():
    for prompt in ("", " ", "?", "\x00", "😀" * 50, "x" * 50_000, "\ud800", "A\nB\nC", "AT&T", "&&& ---"):
        assert text_of(prompt=prompt)


def test_the_hostile_answer_holds_what_it_should():
    text, _ = markdown(HOSTILE, lambda page, number: f"[{number}]({page.url})", gap="")

    assert all(nasty in text for nasty in ("<script>", "](javascript:", "\x00", "\ud800", "\u202e"))


def test_slugs_are_ascii():
    assert slug("Café Montelumo & Söhne") == "cafe-montelumo-sohne"
    assert slug("☕") == "topic"
