package io.understudy.local.process;

/** Where servers run: processes of this machine, containers, or what else may come. */
public interface ServerHost {

    /** A server for the command, not started yet. The caller closes it. */
    ServerProcess prepare(ServerCommand command);
}
