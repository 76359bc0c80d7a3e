package io.understudy.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Sends the log to a file, for commands that show progress on the terminal. */
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

    /** Selects the file before the first log event, when logback reads its settings. */
    public static void use(Path file) {
        System.setProperty("logback.configurationFile", "io/understudy/cli/logback-to-file.xml");
        System.setProperty("understudy.log.file", file.toString());
    }
}
