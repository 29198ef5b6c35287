"""What an answer can talk about: invented brands with what is said of them. No such brand exists.

A demo that wants its own brand to be found names it in the question, or takes one from here.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    words: tuple[str, ...]
    """Any of these in a question makes it one about this topic."""
    noun: str
    emoji: str
    brands: tuple[str, ...]
    strengths: tuple[str, ...]
    """Complete "It …"."""
    concerns: tuple[str, ...]
    """Complete "Some buyers say that it …"."""
    criteria: tuple[str, ...]
    """Whole sentences."""


TOPICS = (
    Topic(
        words=("espresso", "coffee", "kaffee", "espressomaschine", "kaffeemaschine", "barista", "grinder"),
        noun="espresso machines",
        emoji="☕",
        brands=("Brewhollow", "Kaffingo", "Crematto", "Steamwick", "Beanvale", "Café Montelumo"),
        strengths=(
            "heats up in less than a minute",
            "makes an even crema without much practice",
            "has a steam wand that is easy to clean",
            "comes with a quiet grinder",
            "fits under low kitchen cabinets",
        ),
        concerns=("needs descaling often", "has a small water tank", "is loud in the morning"),
        criteria=(
            "Look at the time it takes to heat up, because you wait for it every day.",
            "A machine with a standard filter size is easier to find parts for.",
            "Check that the brewing group comes out for cleaning.",
        ),
    ),
    Topic(
        words=("shoe", "shoes", "running", "sneaker", "sneakers", "schuhe", "laufschuhe", "trail", "marathon"),
        noun="running shoes",
        emoji="👟",
        brands=("Striderra", "Pacefern", "Volanti Run", "Kestrelo", "Lumofoot", "Trailmoor"),
        strengths=(
            "keeps its cushioning over many kilometres",
            "has a wide toe box",
            "is light enough for races",
            "grips well on wet paths",
            "dries fast after rain",
        ),
        concerns=("runs small", "wears out quickly at the heel", "feels firm at first"),
        criteria=(
            "Try shoes on in the evening, when feet are a little larger.",
            "A wider toe box helps on long runs.",
            "Replace a pair once the foam no longer springs back.",
        ),
    ),
    Topic(
        words=("project", "task", "tasks", "kanban", "team", "collaboration", "projektmanagement", "planning"),
        noun="project management tools",
        emoji="✅",
        brands=("Taskharbor", "Planquill", "Boardleaf", "Sprintmoss", "Worklantern", "Kanbrio"),
        strengths=(
            "is quick to set up for a small team",
            "shows deadlines and workload on one page",
            "has a free plan that is enough to start with",
            "connects to common calendars and chat tools",
            "keeps data in the European Union",
        ),
        concerns=("gets slow with very large boards", "hides reports in the higher plans", "has a plain mobile app"),
        criteria=(
            "Start with the number of people who will really use it.",
            "Export your data once during the trial to see whether you can leave again.",
            "Ask whether guests count as paid seats.",
        ),
    ),
    Topic(
        words=("crm", "sales", "leads", "customer", "customers", "kunden", "vertrieb", "pipeline"),
        noun="CRM systems",
        emoji="📈",
        brands=("Dealfern", "Clientivo", "Pipelark", "Contactory", "Leadmoss", "Relatista"),
        strengths=(
            "logs e-mails and calls by itself",
            "has a clear sales pipeline",
            "is affordable for small companies",
            "offers good support by telephone",
            "imports old contacts without trouble",
        ),
        concerns=("charges extra for reports", "takes time to learn", "limits automation in the basic plan"),
        criteria=(
            "Write down the three steps your sales team repeats most.",
            "Compare the price per seat after the first year.",
            "Check that contacts can be exported completely.",
        ),
    ),
    Topic(
        words=("bank", "banking", "account", "konto", "girokonto", "savings", "card", "loan", "broker"),
        noun="bank accounts",
        emoji="🏦",
        brands=("Münzwerk", "Penniwell", "Kontolino", "Ledgerfox", "Clearpurse", "Bankvale"),
        strengths=(
            "charges no monthly fee",
            "opens an account within a day",
            "pays interest on savings from the first euro",
            "has a simple app",
            "answers the telephone at weekends",
        ),
        concerns=("charges for cash withdrawals abroad", "has no branches", "checks documents slowly"),
        criteria=(
            "Add up the fees of a normal month instead of comparing single prices.",
            "Check whether deposits are protected by law.",
            "Read what happens when an introductory rate ends.",
        ),
    ),
    Topic(
        words=("hotel", "hotels", "travel", "trip", "holiday", "vacation", "reise", "urlaub", "flight", "booking"),
        noun="travel services",
        emoji="🧳",
        brands=("Wanderlume", "Roomlark", "Tripfern", "Stayvale", "Nachtquartier Süd", "Portavia"),
        strengths=(
            "shows the full price from the start",
            "lets you cancel until the day before",
            "lists many small family hotels",
            "has helpful staff on the telephone",
            "remembers what you liked on the last trip",
        ),
        concerns=("has few offers out of season", "answers complaints slowly", "adds a fee for some cards"),
        criteria=(
            "Compare the price with the hotel's own site.",
            "Look at the reviews of the last three months first.",
            "Free cancellation is worth a few euros more.",
        ),
    ),
    Topic(
        words=("headphone", "headphones", "earbuds", "speaker", "speakers", "audio", "kopfhörer", "sound"),
        noun="headphones",
        emoji="🎧",
        brands=("Sonoreef", "Klangfeld", "Auralis Nine", "Hushbird", "Tonekeep", "Bassmoor"),
        strengths=(
            "blocks the noise of trains very well",
            "plays for more than thirty hours",
            "is comfortable with glasses",
            "has a replaceable battery",
            "sounds balanced without any settings",
        ),
        concerns=("is heavy after a few hours", "loses the connection in crowded places", "has no case"),
        criteria=(
            "Comfort matters more than small differences in sound.",
            "Check whether pads and battery can be replaced.",
            "Noise cancelling works best against steady sounds.",
        ),
    ),
    Topic(
        words=("skin", "skincare", "cream", "creme", "serum", "sunscreen", "cosmetics", "hautpflege", "shampoo"),
        noun="skin care products",
        emoji="🧴",
        brands=("Dermalune", "Peelwood", "Crème Solène", "Hautnah", "Balmory", "Velvetine"),
        strengths=(
            "suits sensitive skin",
            "works without perfume",
            "lists all ingredients in plain words",
            "leaves no white film",
            "comes in a refillable bottle",
        ),
        concerns=("is expensive for its size", "smells unusual", "is often sold out"),
        criteria=(
            "Try a new product on a small spot first.",
            "A short list of ingredients is easier to check.",
            "Give it four weeks before you judge.",
        ),
    ),
    Topic(
        words=("mattress", "bed", "sleep", "pillow", "matratze", "bett", "schlaf"),
        noun="mattresses",
        emoji="🛏️",
        brands=("Slumberoak", "Dreamslate", "Schlafwerk", "Cloudpine", "Restoria", "Nestholm"),
        strengths=(
            "can be tried for a hundred nights",
            "stays cool in summer",
            "supports people who sleep on their side",
            "has a washable cover",
            "arrives rolled and light enough to carry",
        ),
        concerns=("smells of foam in the first days", "is soft at the edge", "takes long to deliver"),
        criteria=(
            "Use the trial period and write down how you sleep.",
            "Body weight decides the firmness more than age does.",
            "Ask who pays when you send it back.",
        ),
    ),
    Topic(
        words=("insurance", "versicherung", "insurer", "haftpflicht", "liability", "policy"),
        noun="insurance companies",
        emoji="☂️",
        brands=("Coverlark", "Schutzhaus", "Policyfern", "Safeholm", "Guardwell", "Umbrio"),
        strengths=(
            "pays small claims within a week",
            "explains its terms in plain words",
            "can be cancelled every month",
            "covers rented things as well",
            "has low prices for families",
        ),
        concerns=("asks for many documents", "raises the price after a claim", "can be reached only by e-mail"),
        criteria=(
            "Compare what is excluded before you compare prices.",
            "A small deductible often pays for itself.",
            "Check how claims are reported.",
        ),
    ),
    Topic(
        words=("bike", "bikes", "bicycle", "e-bike", "fahrrad", "cycling", "cargo"),
        noun="bicycles",
        emoji="🚲",
        brands=("Pedalmoor", "Radwerk Süd", "Velofern", "Gearlark", "Spokehaus", "Kettenburg"),
        strengths=(
            "rides calmly with heavy bags",
            "has a belt instead of a chain",
            "uses parts that any workshop knows",
            "has a battery that lasts for eighty kilometres",
            "comes nearly assembled",
        ),
        concerns=("is heavy to carry upstairs", "has a simple light", "has long delivery times"),
        criteria=(
            "Ask your local workshop which systems it repairs.",
            "Frame size matters more than the number of gears.",
            "A removable battery is easier to charge at home.",
        ),
    ),
)

ANYTHING = Topic(
    words=(),
    noun="this",
    emoji="✨",
    brands=("Halvorin", "Orbuno", "Quillbay"),
    strengths=(
        "is easy to start with",
        "has a fair price",
        "gets good marks for its support",
        "does one thing and does it well",
        "has been reliable over several years",
    ),
    concerns=("has a short manual", "is not sold everywhere", "costs more after the first year"),
    criteria=(
        "Decide first what you need every day and what would only be nice to have.",
        "Read a few bad reviews as well as the good ones.",
        "Check how easy it is to change your mind later.",
    ),
)

PREFIXES = ("Bright", "Kern", "Luma", "Nord", "Silver", "Wind")
"""Brands for a topic that is not listed are made of these and a word of the question."""
