exports.add = (left, right) => left + right;
