package io.understudy.cli;

import io.understudy.local.binary.EtcdBinaries;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code understudy etcd}: the etcd programs that the lab and the tests run. */
@Command(name = "etcd", description = "Find or download the etcd binaries used by the lab and the tests.")
final class EtcdCommand {

    /** Prints the path of {@code etcd} as its last line, for use in scripts. */
    @Command(name = "path", description = "Print the path of etcd; download it first if it is not installed.")
    void path(@Mixin Output output) {
        output.text("path", EtcdBinaries.find(output::note).etcd().toString());
    }
}
