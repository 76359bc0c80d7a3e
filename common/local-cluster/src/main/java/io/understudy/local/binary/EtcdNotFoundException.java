package io.understudy.local.binary;

import java.util.List;

/** No usable etcd was found or fetched. The message lists what was tried and what to do. */
public final class EtcdNotFoundException extends RuntimeException {

    EtcdNotFoundException(List<String> tried) {
        super("no usable etcd found or downloaded; " + ProgramVersion.OLDEST + " or later is required. Tried:\n  - "
                + String.join("\n  - ", tried)
                + "\nInstall etcd and etcdctl, or set " + ExplicitPath.VARIABLE + " or -D"
                + ExplicitPath.PROPERTY
                + " to the etcd program or its directory. Versions other than 3.5 require go in PATH.");
    }
}
