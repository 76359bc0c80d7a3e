package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class UnderstudyTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void versionGoesToStandardOutputAsOneLine() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).startsWith("understudy ").hasLineCount(1);
        assertThat(err.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "gateway --help",
                "mirror --help",
                "mirror status --help",
                "mirror verify --help",
                "mirror translate --help",
                "cluster --help",
                "cluster status --help",
                "etcd --help",
                "etcd path --help",
                "lab --help",
                "bench --help",
                "bench reads --help",
                "bench watch --help",
                "bench mirror --help",
                "bench kafka --help"
            })
    void everyCommandPrintsHelp(String arguments) {
        assertThat(run(arguments.split(" "))).isZero();
        assertThat(out.toString()).startsWith("Usage: understudy");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--no-such-flag",
                "nonsense",
                "gateway",
                "mirror",
                "mirror --config",
                "mirror status --output=xml",
                "mirror verify",
                "mirror translate",
                "mirror translate --revision=-1",
                "mirror translate --revision=1 --url=http://127.0.0.1:1 --config=mirror.yaml",
                "cluster",
                "cluster status",
                "cluster status --cacert=ca.crt",
                "cluster status --endpoints=http://127.0.0.1:2379 --output=xml",
                "etcd",
                "etcd path extra",
                "lab --dr-port=70000",
                "lab --output=xml",
                "bench",
                "bench reads --work=nothing",
                "bench watch --work=point",
                "bench watch --in-flight=16,0",
                "bench reads --duration=long",
                "bench reads --connections=7",
                "bench reads --equal-load=half",
                "bench mirror --writers=0",
                "bench mirror --work=history",
                "bench kafka --runs=0",
                "bench kafka --work=backlog",
                ""
            })
    void badUsageIsRefusedInOneLineThatSaysWhereToLook(String arguments) {
        assertThat(run(arguments.isEmpty() ? new String[0] : arguments.split(" ")))
                .isEqualTo(2);
        assertThat(err.toString()).startsWith("understudy").contains("--help").hasLineCount(1);
        assertThat(out.toString()).isEmpty();
    }

    private int run(String... arguments) {
        return Understudy.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
