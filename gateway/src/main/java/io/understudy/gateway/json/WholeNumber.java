package io.understudy.gateway.json;

import java.math.BigInteger;

/**
 * The integer that a JSON number is, as Go's {@code protojson} sees it. Computing it takes time that grows with the
 * number's length and not with its value, since a short exponent can mean any number of digits.
 */
final class WholeNumber {

    /** Digits of the largest value of any type. */
    private static final int MOST_DIGITS = 20;

    private WholeNumber() {}

    /**
     * The value of {@code number}, which has JSON's form.
     *
     * @throws NumberFormatException if it is no integer, or has too many digits
     */
    static BigInteger of(String number) {
        boolean negative = number.startsWith("-");
        int e = Math.max(number.indexOf('e'), number.indexOf('E'));
        String mantissa = number.substring(negative ? 1 : 0, e < 0 ? number.length() : e);
        int dot = mantissa.indexOf('.');
        String before = dot < 0 ? mantissa : mantissa.substring(0, dot);
        String integral = before.equals("0") ? "" : before;
        String fraction = dot < 0 ? "" : withoutZeros(mantissa.substring(dot + 1));
        if (integral.isEmpty() && fraction.isEmpty()) {
            return BigInteger.ZERO;
        }
        int exponent = e < 0 ? 0 : Integer.parseInt(number.substring(e + 1));
        // Neither sum can leave an int: a request's length is far from it.
        if (fraction.length() > Math.max(0, exponent)
                || integral.length() + Math.min(0, exponent)
                        < withoutZeros(integral).length()) {
            throw new NumberFormatException();
        }
        if ((long) integral.length() + exponent > MOST_DIGITS) {
            throw new NumberFormatException();
        }
        String digits = exponent < 0
                ? integral.substring(0, integral.length() + exponent)
                : integral + fraction + "0".repeat(exponent - fraction.length());
        BigInteger value = new BigInteger(digits);
        return negative ? value.negate() : value;
    }

    private static String withoutZeros(String digits) {
        int length = digits.length();
        while (length > 0 && digits.charAt(length - 1) == '0') {
            length--;
        }
        return digits.substring(0, length);
    }
}
