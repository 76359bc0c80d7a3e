package io.understudy.local.binary;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The folders of PATH. */
final class SystemPath implements BinarySource {

    private final @Nullable String path;

    SystemPath() {
        this(System.getenv("PATH"));
    }

    SystemPath(@Nullable String path) {
        this.path = path;
    }

    @Override
    public String describe() {
        return "PATH";
    }

    @Override
    public EtcdBinaries look(WantedVersion wanted, Consumer<String> progress) throws NotHereException {
        List<String> reasons = new ArrayList<>();
        for (String folder : (path == null ? "" : path).split(File.pathSeparator, -1)) {
            if (folder.isEmpty() || !Files.isExecutable(Path.of(folder, "etcd"))) {
                continue;
            }
            try {
                EtcdBinaries found = EtcdBinaries.in(Path.of(folder).toAbsolutePath());
                if (wanted.byDefault() || wanted.accepts(found.version())) {
                    return found;
                }
                reasons.add(found.etcd() + " is version " + found.version());
            } catch (NotHereException e) {
                reasons.add(e.getMessage());
            }
        }
        throw new NotHereException(reasons.isEmpty() ? "no etcd found" : String.join("; ", reasons));
    }
}
