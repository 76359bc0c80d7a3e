package io.understudy.cli;

import io.understudy.config.Units;
import io.understudy.mirror.home.Move.Way;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Iterator;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The values of flags, by type. */
final class Converters {

    private static final String MOST = "365d";

    /** The sum with a revision is one too. */
    private static final long MOST_OF_LONG = Long.MAX_VALUE / 2;

    private Converters() {}

    /** @param least the least duration of a flag without a converter of its own */
    static CommandLine register(CommandLine line, String least) {
        return line.registerConverter(Duration.class, new DurationValue(least, MOST))
                .registerConverter(Instant.class, new InstantValue())
                .registerConverter(URI.class, new HttpUrl())
                .registerConverter(Long.class, new LongValue())
                .registerConverter(long.class, new LongValue())
                .registerConverter(Integer.class, new IntegerValue())
                .registerConverter(int.class, new IntegerValue());
    }

    /** Converts durations as in a configuration, such as {@code 80ms}, {@code 2m30s} or {@code 30d}. */
    private static class DurationValue implements ITypeConverter<Duration> {

        private final String least;
        private final String most;

        DurationValue(String least, String most) {
            this.least = least;
            this.most = most;
        }

        @Override
        public Duration convert(String text) {
            try {
                Duration duration = Units.parseDuration(text);
                if (duration.compareTo(Units.parseDuration(least)) >= 0
                        && duration.compareTo(Units.parseDuration(most)) <= 0) {
                    return duration;
                }
            } catch (IllegalArgumentException e) {
                // Reported below.
            }
            throw refused(
                    text,
                    "a duration of " + least + " to " + most + ", such as 8s" + (most.equals(MOST) ? " or 1h30m" : ""));
        }
    }

    /** A shorter time would report a slow cluster as lost. */
    static final class AtLeastOneSecond extends DurationValue {
        AtLeastOneSecond() {
            super("1s", MOST);
        }
    }

    /** The client of a supervisor waits no longer. */
    static final class AtMostTenSeconds extends DurationValue {
        AtMostTenSeconds() {
            super("1ms", "10s");
        }
    }

    /** The client of a mirror waits no longer. */
    static final class AtMostThirtySeconds extends DurationValue {
        AtMostThirtySeconds() {
            super("1ms", "30s");
        }
    }

    private static final class InstantValue implements ITypeConverter<Instant> {
        @Override
        public Instant convert(String text) {
            try {
                return Instant.parse(text);
            } catch (DateTimeParseException e) {
                throw refused(text, "a time such as 2026-01-31T12:00:00Z");
            }
        }
    }

    private static final class LongValue implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return number(text, 0, MOST_OF_LONG);
        }
    }

    /** A positive number. */
    static final class Positive implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return number(text, 1, MOST_OF_LONG);
        }
    }

    private static class IntegerValue implements ITypeConverter<Integer> {

        private final int least;
        private final int most;

        IntegerValue() {
            this(0, Integer.MAX_VALUE);
        }

        IntegerValue(int least, int most) {
            this.least = least;
            this.most = most;
        }

        @Override
        public Integer convert(String text) {
            return (int) number(text, least, most);
        }
    }

    /** A number of members. */
    static final class Count extends IntegerValue {
        Count() {
            super(1, Integer.MAX_VALUE);
        }
    }

    /** A validity of up to a century. */
    static final class Days extends IntegerValue {
        Days() {
            super(1, 36_500);
        }
    }

    /** A port. */
    static final class Port extends IntegerValue {
        Port() {
            super(1, 65_535);
        }
    }

    private static long number(String text, long least, long most) {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw refused(text, "an integer of " + least + " to " + most);
    }

    private static TypeConversionException refused(String text, String allowed) {
        return new TypeConversionException("'" + text + "' is not allowed; allowed: " + allowed);
    }

    private static final class HttpUrl implements ITypeConverter<URI> {

        private static final String ALLOWED = "a URL with http:// or https://, such as http://127.0.0.1:2379";

        @Override
        public URI convert(String text) {
            if (!text.contains("://")) {
                throw refused(text, ALLOWED);
            }
            try {
                URI url = URI.create(text);
                boolean isHttp = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
                if (isHttp && url.getRawAuthority() != null) {
                    if (url.getHost() == null) {
                        throw new TypeConversionException(
                                "'" + text + "' has no valid host or port; a host name must not contain '_'");
                    }
                    return url;
                }
            } catch (IllegalArgumentException e) {
                // Reported below.
            }
            throw refused(text, ALLOWED);
        }
    }

    /** Any way of closing but {@code none}, which has a flag of its own. */
    static final class ClosingWay implements ITypeConverter<Way> {
        @Override
        public Way convert(String value) {
            for (Way way : Way.values()) {
                if (way != Way.NONE && way.word().equals(value)) {
                    return way;
                }
            }
            throw refused(value, "roles, corrupt-alarm, auth-enable");
        }
    }

    /** The words of {@link ClosingWay}. */
    static final class ClosingWays implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Stream.of(Way.values())
                    .filter(way -> way != Way.NONE)
                    .map(Way::word)
                    .iterator();
        }
    }
}
