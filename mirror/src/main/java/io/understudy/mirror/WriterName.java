package io.understudy.mirror;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.UUID;

/** Names the writer of a checkpoint so that an operator finds it and no two are alike: {@code host/pid/random}. */
final class WriterName {

    private WriterName() {}

    static String ofThisProcess() {
        String random = UUID.randomUUID().toString().substring(0, 8);
        return host() + "/" + ProcessHandle.current().pid() + "/" + random;
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown-host";
        }
    }
}
