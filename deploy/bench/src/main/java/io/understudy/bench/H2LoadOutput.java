package io.understudy.bench;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What h2load prints.
 *
 * @param elapsed of the whole run
 * @param total requests that should have been answered
 * @param succeeded those that were, with a status of the 200s
 * @param dataBytes of all bodies
 */
record H2LoadOutput(Duration elapsed, long total, long succeeded, long dataBytes) {

    private static final Pattern FINISHED = Pattern.compile("finished in ([0-9.]+)(us|ms|s|m|h),");
    private static final Pattern REQUESTS = Pattern.compile("requests: (\\d+) total, .* (\\d+) succeeded,");
    private static final Pattern DATA = Pattern.compile("\\((\\d+)\\) data");

    /** @throws BenchException it isn't what h2load prints */
    static H2LoadOutput parse(String output) {
        Matcher finished = find(FINISHED, output);
        Matcher requests = find(REQUESTS, output);
        double nanos = Double.parseDouble(finished.group(1)) * nanosOf(finished.group(2));
        return new H2LoadOutput(
                Duration.ofNanos(Math.round(nanos)),
                Long.parseLong(requests.group(1)),
                Long.parseLong(requests.group(2)),
                Long.parseLong(find(DATA, output).group(1)));
    }

    /** Requests without the answer that they should have: h2load doesn't look at gRPC's status, but an error has no data. */
    long errors(int answerBytes) {
        long expected = succeeded * answerBytes;
        return total - succeeded + (Math.abs(expected - dataBytes) + answerBytes - 1) / answerBytes;
    }

    private static Matcher find(Pattern pattern, String output) {
        Matcher matcher = pattern.matcher(output);
        if (!matcher.find()) {
            throw new BenchException("unexpected output of h2load: " + output.strip());
        }
        return matcher;
    }

    private static double nanosOf(String unit) {
        return switch (unit) {
            case "us" -> 1e3;
            case "ms" -> 1e6;
            case "s" -> 1e9;
            case "m" -> 60e9;
            default -> 3600e9;
        };
    }
}
