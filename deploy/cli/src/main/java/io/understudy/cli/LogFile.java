package io.understudy.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Sends the log to a file, for commands that show on the terminal how far they are. */
public final class LogFile {

    private LogFile() {}

    /** Creates a log file that only this user may open; its name is unpredictable, which rules out a planted link. */
    static Path temporary() {
        try {
            return Files.createTempFile("understudy-", ".log");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create a log file", e);
        }
    }

    /** Must be called before anything is logged: the settings are read by logback when it wakes up. */
    public static void use(Path file) {
        System.setProperty("logback.configurationFile", "io/understudy/cli/logback-to-file.xml");
        System.setProperty("understudy.log.file", file.toString());
    }
}
