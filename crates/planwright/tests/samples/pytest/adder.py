def add(left, right):
    return left + right
