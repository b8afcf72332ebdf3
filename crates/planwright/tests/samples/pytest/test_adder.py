from adder import add


def test_two_and_two_are_four():
    assert add(2, 2) == 4
