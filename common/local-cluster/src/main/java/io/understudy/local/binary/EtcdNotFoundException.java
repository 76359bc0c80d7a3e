package io.understudy.local.binary;

import java.util.List;

/** etcd is nowhere on this machine and could not be fetched. The message lists what was tried and what to do. */
public final class EtcdNotFoundException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    EtcdNotFoundException(List<String> tried) {
        super("etcd " + EtcdVersion.OLDEST + " or newer was not found and could not be fetched. Tried:\n  - "
                + String.join("\n  - ", tried)
                + "\nInstall etcd and etcdctl, or name them by " + ExplicitPath.VARIABLE + " or -D"
                + ExplicitPath.PROPERTY + " (the program etcd, or the folder it is in).");
    }
}
