package io.understudy.cli;

import java.nio.file.Path;

/** Sends the log to a file, for commands that show on the terminal how far they are. */
final class LogFile {

    private LogFile() {}

    /** Must be called before anything is logged: the settings are read by logback when it wakes up. */
    static void use(Path file) {
        System.setProperty("logback.configurationFile", "io/understudy/cli/logback-to-file.xml");
        System.setProperty("understudy.log.file", file.toString());
    }
}
