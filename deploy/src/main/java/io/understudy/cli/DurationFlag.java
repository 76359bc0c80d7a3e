package io.understudy.cli;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations on the command line: {@code 80ms}, {@code 1.5s}, {@code 2m30s}. */
public final class DurationFlag implements ITypeConverter<Duration> {

    private static final Pattern MILLIS = Pattern.compile("(\\d{1,9})ms");

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
