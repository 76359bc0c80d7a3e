package io.understudy.lab.ports;

/**
 * The process that listens on a port.
 *
 * @param command its command line, shortened
 */
public record PortHolder(long pid, String command) {

    private static final int SHOWN = 80;

    public PortHolder {
        command = command.length() <= SHOWN ? command : command.substring(0, SHOWN - 3) + "...";
    }

    @Override
    public String toString() {
        return "process " + pid + " (" + command + ")";
    }
}
