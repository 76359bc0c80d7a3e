package io.understudy.lab;

import io.understudy.lab.directory.LabDirectory;
import io.understudy.lab.ports.LabPort;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.tls.TlsFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Commands that the user of a lab may want to try. */
record Hints(LabNetwork network, LabDirectory directory, EtcdBinaries programs) {

    List<String> all() {
        List<String> commands = new ArrayList<>();
        LabUsers users = network.users();
        if (users != null) {
            // Neither program's arguments, which everyone on the machine can see, have the password.
            commands.add("export ETCDCTL_USER=" + LabUsers.OWN + " ETCDCTL_PASSWORD=\"$(cat "
                    + users.passwordFile(LabUsers.OWN) + ")\"");
        }
        commands.add(etcdctl() + " put greeting hello");
        commands.add(etcdctl() + " get greeting");
        commands.add(curl(users) + network.url(LabPort.GATEWAY_REST).resolve("/v1/kv/greeting"));
        commands.add(understudy() + " cluster status --timeout 10s --config "
                + directory.path().resolve("core/cluster.yaml"));
        commands.add(understudy() + " mirror verify --mirror dr --config "
                + directory.path().resolve("mirror/mirror.yaml"));
        commands.add(takeOver(users) + understudy() + " mirror switchover --dry-run --allow-loss --mirror dr --config "
                + directory.path().resolve("mirror/mirror.yaml"));
        return commands;
    }

    private String etcdctl() {
        TlsFiles own = network.files(LabUsers.OWN);
        String program = programs.etcdctl() + " --endpoints=";
        return own == null
                ? program + network.address(LabPort.GATEWAY)
                : program + network.url(LabPort.GATEWAY) + " --cacert=" + own.trusted() + " --cert=" + own.certificate()
                        + " --key=" + own.key();
    }

    private String curl(@Nullable LabUsers users) {
        TlsFiles own = network.files(LabUsers.OWN);
        String secured = own == null
                ? ""
                : "--cacert " + own.trusted() + " --cert " + own.certificate() + " --key " + own.key() + " ";
        return "curl -s " + secured + (users == null ? "" : "--netrc-file " + users.netrc() + " ");
    }

    /** A takeover writes keys that no user of a mirror may write. */
    private static String takeOver(@Nullable LabUsers users) {
        if (users == null) {
            return "";
        }
        String root = LabUsers.ROOT + ":$(cat " + users.passwordFile(LabUsers.ROOT) + ")";
        return "UNDERSTUDY_SOURCE_USER=\"" + root + "\" UNDERSTUDY_TARGET_USER=\"" + root + "\" ";
    }

    private static String understudy() {
        String home = System.getProperty("understudy.home");
        return home == null ? "understudy" : Path.of(home, "bin", "understudy").toString();
    }
}
