"""What people write around an expression: "What is ...?", "please", "Think step by step."."""

from __future__ import annotations

from source import Source


def framed(source: Source, phrase: str) -> str:
    return source.phrase(
        "[What is|What is|what is|What's|what's|whats|How much is|how much is|Calculate|calculate|Compute|compute|"
        "Please compute"
        "|Evaluate|evaluate|Work out|work out|Solve|solve|Find|Tell me|tell me|Give me|I need|Show me|calc|"
        "Determine|Do|And what is"
        "|Can you [compute|work out|calculate|do|solve]|Could you [compute|calculate|tell me|work out]|I want to "
        "know|Try"
        "|Use the calculator[:| for| to compute]|What do you get for|What is the [value|result] of|The value of|"
        "Let us compute"
        "|||] {phrase}[?|?|?|.|.|||| =| = ?|=?]",
        phrase=phrase,
    ).strip()


def polite(source: Source, text: str) -> str:
    kind = source.random.random()
    if kind < 0.06:
        return source.phrase(
            "[Hi|Hello|Hey|OK|Okay|Well|Please|So|Good morning|hi|hello|hey|ok|please|Now]{mark} {text}",
            mark=source.choose([",", ",", "!", ".", ":", ""]),
            text=text,
        )
    if kind < 0.11:
        return source.phrase(
            "{text}[ please| please.|, please.| for me| for me.|, thanks| Thanks!| now| right now| quickly]",
            text=text.rstrip(".?! ="),
        )
    if kind < 0.14:
        return source.phrase(
            "{text} [Think step by step.|Use the calculator.|Use a tool.|Be quick.|Answer briefly.|Think first.|It "
            "is important."
            "|I need it now.|Explain.|Show your work.|Only the number please.|Thank you.|Thanks!]",
            text=text,
        )
    if kind < 0.18:
        return source.choose([f"{text}\n", f" {text}", f"{text} ", f"{text}\n\n", f"{text}??", f"{text}..."])
    if kind < 0.21:
        return source.phrase(
            (
                "[I have a question: |Quick question: |Next: |One more: |My homework: |Can you help me? |Question: |"
                "Task: |Next one: ]{text}"
            ),
            text=text,
        )
    return text
