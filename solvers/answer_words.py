"""The words that open an answer line, in the languages in which models reply most."""

import re
import unicodedata

_ANSWERS = (
    # Latin script
    "answer|antwort|réponse|respuesta|resposta|risposta|antwoord|svar|svaret|vastaus|odpowiedź|"
    "odpověď|odpoveď|odgovor|válasz|răspuns|raspuns|cevap|yanıt|jawaban|jawapan|đáp án|trả lời|"
    "câu trả lời|sagot|jibu|vastus|atbilde|atsakymas|përgjigja|respuesta correcta|"
    # Cyrillic, Greek, Armenian, Georgian
    "ответ|відповідь|отговор|одговор|απάντηση|պատասխան|პასუხი|"
    # Arabic, Hebrew
    "الإجابة|الاجابة|إجابة|الجواب|جواب|پاسخ|תשובה|התשובה|"
    # Brahmic scripts, Thai
    "उत्तर|जवाब|উত্তর|జవాబు|సమాధానం|பதில்|ઉત્તર|જવાબ|ಉತ್ತರ|ഉത്തരം|ਜਵਾਬ|คำตอบ|"
    # East Asia
    "答案|回答|解答|答|答え|回答案|答复|정답|답변|답|대답"
)
_BEFORE = (
    "final|my|my final|the|the final|so my|so the|answer|meine|endgültige|meine endgültige|ma|la|mi|"
    "minha|a|la mia|il mio|mijn|het|mitt|moja|moje|mój|мой|окончательный|мой окончательный|"
    "итоговый|最终|最終|我的|我的最终|私の|最後の|내|최종|나의|저의"
)
_AFTER = "finale?|définitive|definitiva|finală|akhir|is|النهائية|النهائي|נهائی|סופית|cuối cùng|번호"
_CHOICES = "verdict|final verdict|choice|final choice|decision|final decision|selection|selected option|chosen option|option"


def _fold(words: str) -> str:
    return unicodedata.normalize("NFKC", words)


_MARKUP = r"[\s>*_`#\-•\"'“”‘’«(\[{|~]{0,30}"
_TIGHT = r"[ *_`\"'”’)\]]{0,8}"
_NAMED = rf"(?:(?:so|thus|hence|therefore),? )?(?:(?:{_fold(_BEFORE)}) ?)?(?:{_fold(_ANSWERS)})(?: (?:{_fold(_AFTER)}))?"

ANSWER = re.compile(
    rf"{_MARKUP}{_NAMED}{_TIGHT}(?:[:=](?!=)|(?:[-–—→]>?)(?= ))(?=[^\n]*[^\s*_`])", re.IGNORECASE
)
"""A line of the form: markup, perhaps "Final" or "My", the word for answer, a colon, more."""

HEADING = re.compile(
    rf"{_MARKUP}(?:{_NAMED}|(?:my |the )?(?:{_CHOICES})){_TIGHT}[:=]?{_TIGHT}", re.IGNORECASE
)
"""A line that announces the answer and leaves it to the next one."""

_SO = r"(?:(?:so|thus|hence|therefore|in conclusion|in the end|overall|on balance|finally|ultimately|accordingly)\b,? ?)?"
CLOSING = re.compile(
    rf"{_MARKUP}{_SO}(?:"
    r"(?:the |my )(?:final |correct |best )?(?:answer|choice|decision)(?: here)? (?:is|would be|remains)(?: option)?\b ?:?|"
    rf"(?:my |the )?(?:{_CHOICES}){_TIGHT}[:=]|"
    r"(?:meine |die )(?:endgültige )?antwort (?:ist|lautet)\b ?:?|la (?:réponse|respuesta|risposta) (?:est|es|è)\b ?:?|"
    r"a resposta é\b ?:?|(?:我的|最终)?答案[是为] ?:?|答えは)",
    re.IGNORECASE,
)
"""A sentence that gives the answer, where it is the last line."""

CHOSEN = re.compile(
    rf"{_MARKUP}{_SO}(?:i|i would|i will|i'd|i’d|i'll|i’ll|i must|i have to|we) "
    r"(?:choose|pick|select|go with|opt for|chose|settle on)\b(?= )",
    re.IGNORECASE,
)
"""A sentence of choosing, where it is the last line."""

LATER = re.compile(
    r"[\W_]*(?:or|and|but|maybe|perhaps|possibly|alternatively|otherwise|though|although|however|"
    r"then again)\b",
    re.IGNORECASE,
)
"""How a line begins that adds to the line before it."""
