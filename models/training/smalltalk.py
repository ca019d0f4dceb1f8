"""Everything without a tool call: greetings, who are you, what cannot be done, and repeating words."""

from __future__ import annotations

import expressions
import words
from asking import request
from atoms import anything, city, identifier, person, quoted, random_text, sentence, title
from conversation import Assistant, Turn, User
from source import Source
from toolmaker import Tool, make_tool

NO_TOOL = "I have no tool for that."
CANNOT = "Sorry, I am only a tiny demo model and cannot do that."
NO_TOOL_NEEDED = "No tool is needed."
NO_TOOL_THOUGHT = "There is no tool for that."

CHAT = [
    (
        (
            "[Hello|hello|Hi|hi|Hey|hey|Good morning|Good evening|Hi there|Hello there|Greetings|Hello, how are you|yo|"
            "hallo][!|.||, model|]"
        ),
        "Hello! How can I help you?",
    ),
    (
        "[How are you|how are you doing|How are you today|how is it going|What's up|Are you well|how do you do][?|]",
        "I am fine, thank you. How can I help you?",
    ),
    (
        "[Who are you|who are you|What are you|what are you|Tell me who you are|Introduce yourself|What model are "
        "you|which model is this|What is your name|What's your name|Are you ChatGPT|Are you a human|Are you real|"
        "Are you an AI|who am I talking to|Which LLM are you]"
        "[?||]",
        "I am a tiny demo model inside Rollscope.",
    ),
    (
        "[Who made you|who trained you|Who built you|Where do you come from|Who created you][?|]",
        "I am a tiny demo model, trained for Rollscope.",
    ),
    (
        "[What is Rollscope|what's Rollscope|Tell me about Rollscope|What is this app|what is this][?|]",
        "Rollscope shows every token of an agent's rollout.",
    ),
    (
        (
            "[Thanks|thanks|Thank you|thank you|Thank you very much|Thanks a lot|Great, thanks|perfect, thank you|thx|"
            "cheers|Nice|Great|Cool|Well done|good job|Perfect][!|.||]"
        ),
        "You are welcome.",
    ),
    ("[Bye|bye|Goodbye|See you|Good night|see you later|That is all|that's all][!|.||]", "Goodbye!"),
    (
        "[Tell me a joke|a joke please|Do you know a joke|Make me laugh|joke][.|!|?|]",
        "Why do tokens never get lost? They keep their position.",
    ),
    ("[ok|OK|Okay|okay|I see|Right|Yes|yes|No|no|Sure|fine][.|!|]", "How can I help you?"),
    ("[Sorry|sorry|My mistake|I made a mistake|oops][.|!|]", "No problem."),
    ("[Test|test|testing|ping|Are you there|are you there][?|.|!||]", "I am here."),
    (
        "[How big are you|How many parameters do you have|what size are you|Are you a large model][?|]",
        "I am tiny: about two million parameters.",
    ),
]

# What no tool is for, and what a tiny model must not pretend to do.
CREATIVE = [
    (
        "[Write|write|Compose|Give me] [a|me a|a short|a long] [poem|story|song|essay|letter|article|limerick|haiku|"
        "speech|blog post] about [{w}|{w} and {v}|the {w}|my {w}][.|]"
    ),
    (
        "[Explain|explain|Describe] [{w}|the {w}|quantum physics|how a {w} works|machine learning|relativity|"
        "photosynthesis][ to me|][.|]"
    ),
    "[Write|write] [a|some] [Python|JavaScript|TypeScript|Rust] [code|program|function] [that|to] {b}s a {w}[.|]",
    "What do you think [of|about] {w}?",
    "[Which|what] [book|film|song|colour] do you like[ best|]?",
    "What is the [meaning of life|difference between {w} and {v}]?",
    "[Summarise|Summarize|Review] [this|the] [book|text|article][ for me|]: {s}",
    "[Should|should] I {b} [my|the|a] {w}?",
    "[Is|is] {w} better than {v}?",
    "[Can you|can you] [drive|dance|sing|cook|see|hear|feel|swim|paint|sleep|dream][?|]",
    "[Paint me|Draw me|Draw|Paint] a {a} {w}[.|]",
    "[Give me|I need] advice [about|on] [my |]{w}[.|]",
    "[Tell me|Give me] [a|another] [story|secret|fairy tale|fun fact|riddle|recipe] [about|with|for] {w}[.|]",
    "[Let us|Let's] [talk|chat] about [{w}|the {w}|my {w}][.|]",
    "I feel [{a}|bad|lonely|tired|bored] [today|because of my {w}][.|]",
]
KNOWLEDGE = [
    "[Who|who] [is|was] [the president of|the king of|the author of|the inventor of|the mayor of] [{c}|the {w}|{w}]?",
    "[What is|what's|What's] the [capital|population|language|currency|history] of {c}?",
    "[Why|why] is the {w} so {a}?",
    "[How|how] do I {b} a {w}?",
    "[When|when] was {p} born?",
    "[Where|where] can I [buy|find|see] [a|the|some] {w}?",
    "[How|how] [old|tall|far|long|big] is [the |]{w}?",
    "[What happened|what happens] [in {c}|to the {w}|to {p}]?",
    "[Do you know|do you know|Who is|who is] {p}?",
    "[List|Name] [three|five|ten|some] {w}s[ in {c}|].",
    "Is it [{a}|raining|cold|warm] in {c}?",
    "[How many|how many] {w}s are [there |]in {c}?",
]


def chat(source: Source) -> list[Turn]:
    pattern, reply = source.choose(CHAT)
    return [User(source.phrase(pattern)), Assistant(NO_TOOL_NEEDED, reply)]


def beyond(source: Source) -> list[Turn]:
    creative = source.chance(0.6)
    text = source.phrase(
        source.choose(CREATIVE if creative else KNOWLEDGE),
        w=source.choose(words.NOUNS),
        v=source.choose(words.NOUNS),
        a=source.choose(words.ADJECTIVES),
        b=source.choose(words.VERBS),
        c=city(source),
        p=person(source),
        s=sentence(source),
    )
    text = text if source.chance(0.8) else text.rstrip("?.")
    return [User(text), Assistant("I cannot do that.", CANNOT) if creative else Assistant(NO_TOOL_THOUGHT, NO_TOOL)]


def no_tool_for(source: Source, tools: list[Tool]) -> list[Turn]:
    """A request for a tool that is not there. It shares neither verb nor thing with those that are."""
    taken = {word for tool in tools for word in (tool.verb, *tool.thing.split(" "))}
    while True:
        absent = make_tool(source, most_arguments=2)
        if absent.telling and not taken & {absent.verb, *absent.thing.split(" ")}:
            break
    return [User(request(source, absent, [], named=source.chance(0.15)).text), Assistant(NO_TOOL_THOUGHT, NO_TOOL)]


def no_calculator(source: Source) -> list[Turn]:
    return [User(expressions.question(source).text), Assistant(NO_TOOL_THOUGHT, NO_TOOL)]


def echo(source: Source) -> list[Turn]:
    """Repeat words: dense practice in copying whatever token comes."""
    count = source.weighted({1: 2, 2: 2, 3: 2, 4: 2, 6: 2, 9: 1})
    parts = [
        source.choose(
            [
                source.any_word,
                source.invented_word,
                lambda: anything(source),
                lambda: random_text(source),
                lambda: identifier(source),
                lambda: title(source),
                lambda: str(source.integer(0, 10 ** source.integer(1, 9))),
            ]
        )()
        for _ in range(count)
    ]
    text = source.choose([" ", " ", " ", ", ", "\n", "-"]).join(parts)
    if source.chance(0.75):
        asked = source.phrase(
            (
                "[Repeat|repeat|Say|say|Repeat after me:|Please repeat|Please say|Echo|echo|Write|Type|Copy|Repeat the "
                "words|Say the words|Can you say|Print] {t}"
            ),
            t=quoted(source, text),
        )
    else:
        asked = source.phrase("[Repeat|repeat|Say|say|Repeat after me|Echo|echo|Copy this]: {t}", t=text)
    return [User(asked), Assistant("I repeat it.", text)]


def which_tools(source: Source, names: list[str]) -> list[Turn]:
    asked = source.phrase(
        "[What can you do|Which tools do you have|what tools do you have|List your tools|list the tools|Which "
        "functions can you call|What tools are available|help|Help|How can you help me|which tools are there|Show "
        "me your tools|what are you able to do|What are your tools][?||.]"
    )
    if not names:
        return [User(asked), Assistant(NO_TOOL_NEEDED, "I have no tools here. I can say hello and repeat words.")]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return [User(asked), Assistant(NO_TOOL_NEEDED, f"I can call {listed}.")]


def about_tool(source: Source, tools: list[Tool]) -> list[Turn]:
    """Questions that make the model find a tool in its list: which one does it, what does it do, what does it take."""
    tool = source.choose(tools)
    description = tool.schema["function"].get("description")
    kind = source.random.random()
    if kind < 0.55 and tool.telling:
        asked = source.phrase(
            (
                "[Which tool [can|could|would]|which tool can|What tool can|Which function can|Which of your tools can|"
                "What do you use to|How would you|name the tool to] {verb} {article}{thing}[?|]"
            ),
            verb=tool.verb,
            thing=tool.thing,
            article=source.choose(["a ", "the ", "the ", "my ", ""]),
        )
        return [User(asked), Assistant(NO_TOOL_NEEDED, f"{tool.name}.")]
    if kind < 0.8 and description:
        asked = source.phrase(
            (
                "[What does {name} do|what does {name} do|What is {name}|Explain {name}|What is the tool {name} for|"
                "Describe {name}][?|]"
            ),
            name=tool.name,
        )
        return [User(asked), Assistant(NO_TOOL_NEEDED, description)]
    names = [argument.name for argument in tool.arguments]
    listed = (
        "no arguments" if not names else names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    )
    asked = source.phrase(
        (
            "[What arguments does {name} take|Which arguments does {name} need|what parameters does {name} have|Which "
            "parameters has {name}|What does {name} take][?|]"
        ),
        name=tool.name,
    )
    return [User(asked), Assistant(NO_TOOL_NEEDED, f"{tool.name} takes {listed}.")]
