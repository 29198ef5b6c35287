"""What is read out of a question."""

import pytest

from simulator.questions import read_question


@pytest.mark.parametrize(
    ("prompt", "brands"),
    [
        ("Is Acme Beans better than Kafka Roast in Berlin?", ("Acme Beans", "Kafka Roast")),
        ("Asana vs Trello for small teams", ("Asana", "Trello")),
        ("What are good alternatives to Trello?", ("Trello",)),
        ("Which one? Nordkaffee or Lavanda's Café?", ("Nordkaffee", "Lavanda's Café")),
        ("Is Nike's shoe any good?", ("Nike",)),
        ("What do people think about E.ON and Vattenfall?", ("E.ON", "Vattenfall")),
        ("What are the best CRM systems for startups in Germany?", ()),
        ("Who makes reliable heat pumps near Munich?", ()),
        ("Running shoes for flat feet", ()),
        ("Welche Espressomaschine ist die beste für Zuhause?", ()),
        ("", ()),
    ],
)
def test_brands_are_the_names_in_a_question(prompt: str, brands: tuple[str, ...]):
    assert read_question(prompt).brands == brands


@pytest.mark.parametrize(
    ("prompt", "label"),
    [
        ("What is the best espresso machine for a small kitchen?", "espresso machines"),
        ("Welche Espressomaschine ist die beste?", "espresso machines"),
        ("best dog food for puppies", "dog food"),
        ("Who makes reliable heat pumps near Munich?", "heat pumps"),
        ("Is Zorblatt good?", "Zorblatt and similar brands"),
        ("???", "everyday products"),
    ],
)
def test_the_label_says_what_it_is_about(prompt: str, label: str):
    assert read_question(prompt).label == label


def test_competitors_are_made_up_for_any_topic():
    names = read_question("best dog food for puppies").competitors

    assert len(names) >= 5
    assert len(set(names)) == len(names)


def test_a_brand_in_the_question_is_not_its_own_competitor():
    subject = read_question("Is Brewhollow a good espresso machine?")

    assert subject.brands == ("Brewhollow",)
    assert "Brewhollow" not in subject.competitors
