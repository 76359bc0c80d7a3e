package io.understudy.local.process;

import java.util.List;

/**
 * Runs servers that outlive this JVM, however it ends. Another JVM, or the same one later, finds them again among the
 * processes of this machine by the values of some of their arguments; nothing is written down that could be wrong.
 */
public final class LastingProcesses implements ServerHost {

    private final List<String> flags;

    /** @param flags such as {@code --name=}; a server is the process with the same values of all of them */
    public LastingProcesses(List<String> flags) {
        this.flags = List.copyOf(flags);
    }

    @Override
    public ServerProcess prepare(ServerCommand command) {
        List<String> identifying = command.arguments().stream()
                .filter(argument -> flags.stream().anyMatch(argument::startsWith))
                .toList();
        if (identifying.size() != flags.size()) {
            throw new IllegalArgumentException(command.name() + " lacks flags that identify its process later: has "
                    + identifying + ", required: " + flags);
        }
        return new LastingProcess(command, identifying);
    }

    @Override
    public String toString() {
        return "detached local processes";
    }
}
