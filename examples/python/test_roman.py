import unittest

from roman import from_roman, to_roman


class US001(unittest.TestCase):
    def test_sums(self):
        self.assertEqual([to_roman(n) for n in (1, 3, 8, 2026)], ["I", "III", "VIII", "MMXXVI"])


class US002(unittest.TestCase):
    def test_differences(self):
        self.assertEqual([to_roman(n) for n in (4, 9, 44, 1999)], ["IV", "IX", "XLIV", "MCMXCIX"])


class US003(unittest.TestCase):
    def test_back(self):
        self.assertEqual([from_roman(to_roman(n)) for n in range(1, 4000)], list(range(1, 4000)))
