"""Numbers as the documents write them."""


def scientific(value):
    """Two digits and a power of ten, such as 6.4·10⁻⁴."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
