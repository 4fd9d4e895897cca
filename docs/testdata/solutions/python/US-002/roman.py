"""Roman numerals."""

LETTERS = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
           (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def to_roman(n):
    text = ""
    for value, letter in LETTERS:
        text += letter * (n // value)
        n %= value
    return text


def from_roman(text):
    raise NotImplementedError
