package io.understudy.local.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What to run.
 *
 * @param name name for people
 * @param program absolute path of the program; a container host runs the program of that file name in its image
 * @param arguments its arguments, none of them secret: they are visible to everyone on the machine
 * @param environment variables added to this JVM's own
 * @param directory folder that holds all the server's files; exists
 * @param log file to which its output is appended
 */
public record ServerCommand(
        String name, Path program, List<String> arguments, Map<String, String> environment, Path directory, Path log) {

    public ServerCommand {
        arguments = List.copyOf(arguments);
        environment = Map.copyOf(environment);
        if (!program.isAbsolute()) {
            throw new IllegalArgumentException("program of " + name + " must be an absolute path, is " + program);
        }
    }
}
