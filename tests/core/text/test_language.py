"""What language a short text is in."""

import pytest

from svc_core.text.language import guess

HEADLINES = {
    "en": ["Floods close bridges in the north", "Court rejects appeal over pipeline"],
    "de": ["Bundestag beschließt Haushalt", "Sturm legt Bahnverkehr lahm"],
    "fr": ["Le gouvernement adopte le budget", "Incendie dans une usine à Lyon"],
    "es": ["El gobierno aprueba los presupuestos", "Un terremoto sacude el sur de México"],
    "pt": ["Governo aprova orçamento para o próximo ano", "Incêndio em fábrica deixa dois feridos"],
    "it": ["Il governo approva la manovra", "Terremoto nel centro Italia, gravi danni alle chiese"],
    "nl": ["Kabinet wil minder vluchten op Schiphol", "Brand in een flat, twee gewonden"],
    "pl": ["Rząd przyjął projekt budżetu na przyszły rok", "Pożar w fabryce, są ranni"],
    "cs": ["Vláda schválila rozpočet na příští rok", "Hasiči zasahují u požáru skladu"],
    "sk": ["Vláda schválila rozpočet na budúci rok", "Požiar skladu v Bratislave, hasiči zasahujú"],
    "sv": ["Regeringen vill höja skatten på bensin", "Två personer döda efter brand i Malmö"],
    "ru": ["Правительство утвердило бюджет на следующий год", "В Москве задержали чиновника"],
    "uk": ["Уряд затвердив бюджет на наступний рік", "У Києві пролунали вибухи"],
    "tr": ["Hükümet yeni bütçeyi açıkladı", "İstanbul için kar uyarısı"],
    "ar": ["الحكومة تعلن عن خطة جديدة للطاقة", "زلزال يضرب جنوب تركيا"],
    "ur": ["وزیراعظم نے کابینہ کا اجلاس طلب کر لیا", "کراچی میں بارش سے نظام زندگی متاثر"],
    "hi": ["सरकार ने नया बजट पेश किया"],
    "ja": ["首相は新しい法案を発表した"],
    "zh": ["政府公布新的预算方案"],
    "ko": ["정부가 새 예산안을 발표했다"],
    "th": ["รัฐบาลประกาศงบประมาณใหม่"],
}


@pytest.mark.parametrize(
    ("language", "text"),
    [(tongue, text) for tongue, headlines in HEADLINES.items() for text in headlines],
)
def test_a_headline_tells_its_language(language: str, text: str) -> None:
    assert guess(text) == language


@pytest.mark.parametrize(
    ("text", "tag", "language"),
    [
        ("anything", "pt-BR", "pt"),
        ("anything", "zh_Hant", "zh"),
        ("Zork 500", None, None),
        ("", "", None),
    ],
)
def test_what_is_stated_counts_and_what_proves_nothing_is_unknown(
    text: str, tag: str | None, language: str | None
) -> None:
    assert guess(text, tag) == language
