package io.understudy.local.binary;

import java.nio.file.Path;
import java.util.function.Consumer;

/** Fetches the programs from a source into the cache, unless another process has done so in the meantime. */
record Fetched(EtcdCache cache, Source source) implements BinarySource {

    /** Where programs can be fetched from. */
    interface Source {

        /** What it is, for people. */
        String describe();

        /** Whether it may have that version; finding out costs nothing. */
        boolean has(WantedVersion wanted);

        /** Puts etcd, etcdctl and, if there is one, etcdutl into the folder, which exists and is empty. */
        void fetch(WantedVersion wanted, Path folder, Consumer<String> progress) throws NotHereException;
    }

    @Override
    public String describe() {
        return source.describe();
    }

    @Override
    public EtcdBinaries look(WantedVersion wanted, Consumer<String> progress) throws NotHereException {
        if (!source.has(wanted)) {
            throw new NotHereException("version not available");
        }
        return cache.install(wanted, source, progress);
    }
}
