package io.understudy.local.process;

/** Runs servers as child processes of this JVM. */
public final class LocalProcesses implements ServerHost {

    @Override
    public ServerProcess prepare(ServerCommand command) {
        return new LocalProcess(command);
    }

    @Override
    public String toString() {
        return "local processes";
    }
}
