package io.understudy.bench;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The load at which the latencies of a work's paths are compared: not at that which each can just bear.
 *
 * @param amount requests per second; or, as a share, of those that the slowest path answered
 * @param share whether it is a share
 */
public record EqualLoad(double amount, boolean share) {

    private static final Pattern FORM = Pattern.compile("(\\d{1,7})(%?)");
    private static final double PERCENT = 100;

    /**
     * Reads {@code 50%} or {@code 20000}; zero for no comparison.
     *
     * @throws IllegalArgumentException it is neither
     */
    public static EqualLoad parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a load; allowed: requests per second, or a share such as 50%");
        }
        double amount = Double.parseDouble(matcher.group(1));
        boolean share = !matcher.group(2).isEmpty();
        return new EqualLoad(share ? amount / PERCENT : amount, share);
    }

    boolean isNone() {
        return amount == 0;
    }

    /** @param slowest requests per second that every path can bear */
    Pace pace(double slowest) {
        return new Pace(share ? amount * slowest : amount);
    }
}
