package io.understudy.cli;

import io.understudy.mirror.home.Move.Way;
import java.net.URI;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The values of flags, by type. */
final class Converters {

    private static final Pattern MILLIS = Pattern.compile("(\\d{1,9})ms");

    private Converters() {}

    static CommandLine register(CommandLine line) {
        return line.registerConverter(Duration.class, new DurationValue())
                .registerConverter(URI.class, new HttpUrl())
                .registerConverter(Long.class, new NonNegative())
                .registerConverter(long.class, new NonNegative());
    }

    /** Converts durations such as {@code 80ms}, {@code 1.5s} or {@code 2m30s}. */
    private static final class DurationValue implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            Matcher millis = MILLIS.matcher(text);
            if (millis.matches()) {
                return Duration.ofMillis(Long.parseLong(millis.group(1)));
            }
            try {
                return Duration.parse("PT" + text);
            } catch (DateTimeParseException e) {
                throw new TypeConversionException("'" + text + "' is not a duration such as 80ms, 8s or 2m");
            }
        }
    }

    private static final class NonNegative implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            try {
                long number = Long.parseLong(text);
                if (number >= 0) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Reported below.
            }
            throw new TypeConversionException("'" + text + "' is not a non-negative integer");
        }
    }

    private static final class HttpUrl implements ITypeConverter<URI> {
        @Override
        public URI convert(String text) {
            if (!text.contains("://")) {
                throw new TypeConversionException("'" + text + "' has no scheme; use http:// or https://");
            }
            try {
                URI url = URI.create(text);
                boolean isHttp = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
                if (isHttp && url.getRawAuthority() != null) {
                    return url;
                }
            } catch (IllegalArgumentException e) {
                // Reported below.
            }
            throw new TypeConversionException("'" + text + "' is not a valid URL (example: http://127.0.0.1:2379)");
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
            throw new TypeConversionException("must be roles, corrupt-alarm or auth-enable, not '" + value + "'");
        }
    }
}
