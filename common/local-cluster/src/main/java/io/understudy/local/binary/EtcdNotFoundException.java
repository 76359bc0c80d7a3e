package io.understudy.local.binary;

import java.util.List;

/** No usable etcd was found or fetched. The message lists what was tried and what to do. */
public final class EtcdNotFoundException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    EtcdNotFoundException(List<String> tried) {
        super("no usable etcd was found or fetched; it must be " + EtcdVersion.OLDEST + " or newer. Tried:\n  - "
                + String.join("\n  - ", tried)
                + "\nInstall etcd and etcdctl, or name them by " + ExplicitPath.VARIABLE + " or -D"
                + ExplicitPath.PROPERTY
                + " (the program etcd, or the folder it is in). Another version than 3.5 needs Go on PATH.");
    }
}
