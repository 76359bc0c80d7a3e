package io.understudy.config;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Amounts with a unit, as people write them. */
public final class Units {

    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");
    private static final Pattern DURATIONS = Pattern.compile("(?:" + DURATION + ")+");
    private static final Pattern BYTES = Pattern.compile("(\\d{1,12}) ?(|B|KiB|MiB|GiB|TiB)");
    private static final String[] BYTE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private Units() {}

    /**
     * {@code 5s}, {@code 200ms}, {@code 1h30m}; a bare number has no unit and is refused, except zero.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static Duration parseDuration(String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        if (!DURATIONS.matcher(text).matches()) {
            throw new IllegalArgumentException("not a duration");
        }
        Duration sum = Duration.ZERO;
        Matcher part = DURATION.matcher(text);
        while (part.find()) {
            sum = sum.plus(Long.parseLong(part.group(1)), unit(part.group(2)));
        }
        return sum;
    }

    static String print(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        StringBuilder text = new StringBuilder();
        append(text, duration.toDaysPart(), "d");
        append(text, duration.toHoursPart(), "h");
        append(text, duration.toMinutesPart(), "m");
        append(text, duration.toSecondsPart(), "s");
        append(text, duration.toMillisPart(), "ms");
        return text.toString();
    }

    /** {@code 64MiB}; a bare number is bytes. Units are binary; MB is refused, since half of its readers are wrong. */
    static long parseBytes(String text) {
        Matcher matcher = BYTES.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not a number of bytes");
        }
        long amount = Long.parseLong(matcher.group(1));
        for (String unit : BYTE_UNITS) {
            if (unit.equals(matcher.group(2)) || matcher.group(2).isEmpty()) {
                return amount;
            }
            amount = Math.multiplyExact(amount, 1024);
        }
        throw new AssertionError("unit missing from the table: " + matcher.group(2));
    }

    static String print(long bytes) {
        int unit = 0;
        long amount = bytes;
        while (amount != 0 && amount % 1024 == 0 && unit < BYTE_UNITS.length - 1) {
            amount /= 1024;
            unit++;
        }
        return unit == 0 ? Long.toString(amount) : amount + BYTE_UNITS[unit];
    }

    private static void append(StringBuilder text, long amount, String unit) {
        if (amount != 0) {
            text.append(amount).append(unit);
        }
    }

    private static ChronoUnit unit(String name) {
        return switch (name) {
            case "ms" -> ChronoUnit.MILLIS;
            case "s" -> ChronoUnit.SECONDS;
            case "m" -> ChronoUnit.MINUTES;
            case "h" -> ChronoUnit.HOURS;
            default -> ChronoUnit.DAYS;
        };
    }
}
