"""Verifies check digits, which reveal a wrong character of an identifier without a look-up.

Every function takes the whole identifier, upper case and of its scheme's length, and says whether
its check digits belong to the rest.
"""

from collections.abc import Iterable


def has_lei_digits(lei: str) -> bool:
    """Whether the check digits of an LEI fit (ISO 17442; ISO 7064, MOD 97-10: from 02 to 98).

    The remainder alone would take 00, 01 and 99 for 97, 98 and 02.
    """
    return "02" <= lei[-2:] <= "98" and int("".join(str(int(c, 36)) for c in lei)) % 97 == 1


def has_isin_digit(isin: str) -> bool:
    """Whether the check digit of an ISIN fits (ISO 6166).

    It is the Luhn sum over the digits that the letters stand for: A is 10, Z is 35.
    """
    digits = [int(digit) for character in isin for digit in str(int(character, 36))]
    digits.reverse()
    return _cross_sum([*digits[::2], *(2 * digit for digit in digits[1::2])]) % 10 == 0


def has_figi_digit(figi: str) -> bool:
    """Whether the check digit of a FIGI fits (OMG).

    It is as Luhn, yet each letter is doubled as one number and not digit by digit.
    """
    values = [int(character, 36) for character in figi[:-1]]
    total = _cross_sum([*values[::2], *(2 * value for value in values[1::2])])
    return -total % 10 == int(figi[-1])


def has_imo_digit(imo: str) -> bool:
    """Whether the check digit of an IMO ship number fits.

    The first six digits weigh 7 to 2; their sum ends in the seventh.
    """
    total = sum(weight * int(digit) for weight, digit in zip(range(7, 1, -1), imo[:6], strict=True))
    return total % 10 == int(imo[6])


def _cross_sum(numbers: Iterable[int]) -> int:
    return sum(sum(divmod(number, 10)) for number in numbers)
