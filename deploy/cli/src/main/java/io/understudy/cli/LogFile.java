package io.understudy.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The log of commands: in a file if they show progress on the terminal. */
public final class LogFile {

    private LogFile() {}

    /** Creates a log file for this user only. Its name is unpredictable, which prevents a planted link. */
    static Path temporary() {
        try {
            return Files.createTempFile("understudy-", ".log");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create a log file", e);
        }
    }

    /** Selects, for a command that prints a result, only warnings, in words. A level in the environment prevails. */
    static void useNone() {
        if (System.getenv("UNDERSTUDY_LOG_LEVEL") == null) {
            System.setProperty("understudy.log.level", "warn");
            System.setProperty("understudy.log.format", "command");
        }
    }

    /** Selects the file before the first log event, when logback reads its settings. */
    public static void use(Path file) {
        System.setProperty("logback.configurationFile", "io/understudy/cli/logback-to-file.xml");
        System.setProperty("understudy.log.file", file.toString());
    }
}
