package io.understudy.cli;

import java.util.List;
import picocli.CommandLine.TypeConversionException;

/** A benchmark's works by the names that they have in its report. */
final class WorkName {

    private WorkName() {}

    /** @throws TypeConversionException none has that name */
    static <W> W find(String name, List<W> works) {
        return works.stream()
                .filter(work -> work.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + name + "' is not a benchmark; allowed: " + works));
    }
}
