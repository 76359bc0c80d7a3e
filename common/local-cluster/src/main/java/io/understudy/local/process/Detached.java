package io.understudy.local.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs children in sessions of their own. Ctrl-C at the terminal, or a kill of the JVM's process group, must reach
 * neither servers nor the guards that clean up after the JVM.
 */
final class Detached {

    private static final List<String> PREFIX = onPath("setsid") ? List.of("setsid") : List.of();

    private Detached() {}

    static List<String> prefix() {
        return PREFIX;
    }

    private static boolean onPath(String program) {
        String path = System.getenv("PATH");
        if (path == null) {
            return false;
        }
        for (String folder : path.split(File.pathSeparator, -1)) {
            if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, program))) {
                return true;
            }
        }
        return false;
    }
}
