package io.understudy.local.binary;

import java.util.function.Consumer;

/** One place where etcd may be had. */
interface BinarySource {

    /** Description for messages. */
    String describe();

    /** The programs of the wanted version from here, fetched if need be, checked to run. */
    EtcdBinaries look(WantedVersion wanted, Consumer<String> progress) throws NotHereException;
}
