package io.understudy.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The log of commands: in a file if they show progress on the terminal. */
public final class LogFile {

    private static final String TEMPORARY = "understudy.log.temporary";

    private LogFile() {}

    /**
     * Creates a log file for this user only, which is deleted at the exit if it is empty. Its name is unpredictable, which
     * prevents a planted link.
     */
    static Path temporary() {
        try {
            Path log = Files.createTempFile("understudy-", ".log");
            System.setProperty(TEMPORARY, log.toString());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> deleteEmpty(log), "log"));
            return log;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create a log file", e);
        }
    }

    static void deleteEmpty(Path log) {
        if (log.toFile().length() == 0) {
            boolean unused = log.toFile().delete();
        }
    }

    /** Returns the temporary log file of this command if it has lines. */
    static Optional<Path> written() {
        return Optional.ofNullable(System.getProperty(TEMPORARY))
                .map(Path::of)
                .filter(log -> log.toFile().length() > 0);
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
