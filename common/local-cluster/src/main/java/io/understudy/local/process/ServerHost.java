package io.understudy.local.process;

/** A host of servers, such as this machine or a container engine. */
public interface ServerHost {

    /** A server for the command, not started yet. The caller closes it. */
    ServerProcess prepare(ServerCommand command);
}
