package io.understudy.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Revisions, and how many there may be, on the command line. */
final class NumberFlag implements ITypeConverter<Long> {

    @Override
    public Long convert(String text) {
        try {
            long number = Long.parseLong(text);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below, in the words for all that is no such number.
        }
        throw new TypeConversionException("'" + text + "' is not a non-negative integer");
    }
}
