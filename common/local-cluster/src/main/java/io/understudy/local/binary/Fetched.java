package io.understudy.local.binary;

import java.nio.file.Path;
import java.util.function.Consumer;

/** Downloads the programs into the cache, unless another process has done so meanwhile. */
record Fetched(EtcdCache cache, Source source) implements BinarySource {

    /** A source of downloads. */
    interface Source {

        /** Description for messages. */
        String describe();

        /** Whether it may have that version; makes no request. */
        boolean has(WantedVersion wanted);

        /** Puts etcd, etcdctl and, where available, etcdutl into the existing empty folder. */
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
