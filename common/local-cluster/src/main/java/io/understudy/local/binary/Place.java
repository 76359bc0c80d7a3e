package io.understudy.local.binary;

import java.util.function.Consumer;

/** One place where etcd may be had. */
interface Place {

    /** What it is, for people. */
    String describe();

    /** The programs from here, fetched if need be, checked to run. */
    EtcdBinaries look(Consumer<String> progress) throws NotHereException;
}
