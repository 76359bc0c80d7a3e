package io.understudy.documentation;

import io.understudy.documentation.Document.Block;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * By what a block of code is kept true.
 *
 * @param document from the top of the repository
 * @param beginning of the block; a semicolon is where another line begins
 */
record Keeping(String document, String beginning, List<String> by) {

    /** A file of ours that does what the block shows, and what is there to be seen of it. */
    private static final Pattern EVIDENCE = Pattern.compile("(\\S+) \"(.*)\"");

    /** A block that no test runs, with the reason. */
    private static final String UNCHECKED = "unchecked: ";

    /**
     * The decisions. Blocks with nothing but commands of ours need none. Besides evidence the values are:
     *
     * <ul>
     *   <li>{@code gateway} or {@code mirror}: settings, which are loaded
     *   <li>{@code checkpoint} or {@code home}: records, which are read and written again
     *   <li>{@code java}: compiled
     *   <li>{@code yaml}: well-formed, and files that it names are there
     *   <li>{@code archive}: a list of what is shipped
     *   <li>{@code maven}: its profiles, modules and tests are looked for
     *   <li>{@code unchecked}, with the reason
     * </ul>
     */
    static final List<Keeping> ALL = table("""
            CONTRIBUTING.md | UNDERSTUDY_ADVISORIES= | maven; AdvisoriesIT "UNDERSTUDY_ADVISORIES"
            CONTRIBUTING.md | deploy/dist/release | ReleaseIT "aReleaseIsTaggedWithItsFiles"
            CONTRIBUTING.md | mvn verify | maven; .ci/run "mvn -B verify"

            README.md | mvn verify | maven; .ci/run "mvn -B verify"
            README.md | snapshot, then every commit | unchecked: a drawing

            docs/first-steps.md | etcdctl --endpoints=127.0.0.1:12379 put greeting hello | GatewayIT "fixture.etcdctl("; RestIT "/v1/kv/"
            docs/first-steps.md | etcdctl --endpoints=127.0.0.1:22379 get greeting | container "etcdctl "127.0.0.1:${ports[0]}" put container/key"
            docs/first-steps.md | etcdctl --endpoints=127.0.0.1:2379 put greeting hello | SecuredLabIT "whatItSuggestsWorks"
            docs/first-steps.md | etcdctl --endpoints=127.0.0.1:2379 watch greeting | WatchClientsIT ""watch", "-i""
            docs/first-steps.md | listen: 127.0.0.1:12379 | gateway
            docs/first-steps.md | mirrors:;copy: | mirror
            docs/first-steps.md | understudy-lab.properties | SecuredLabIT "hasWhatTheDocumentationLists"; ten-thousand-keys "understudy-lab.properties"

            docs/install.md | ./self-check | self-check "read_at gateway"; unchecked: needs an engine and the images of others
            docs/install.md | bin/understudy | archive
            docs/install.md | docker build | local-images "docker build"
            docs/install.md | docker compose exec | self-check "supervise status"; TurnIT "pause"; unchecked: needs an engine and the images of others
            docs/install.md | docker run | container "--cap-drop ALL"
            docs/install.md | gpg --import | ReleaseIT "sha256sum"; ReleaseIT ""understudy-signing-key.asc""
            docs/install.md | helm upgrade | kubernetes "helm upgrade"; HelmChartIT "theInstallationPageIsRendered"
            docs/install.md | image: {repository: registry.example | yaml; HelmChartIT "theInstallationPageIsRendered"
            docs/install.md | kubectl apply -f base/namespace.yaml | kubernetes "eval "$command""
            docs/install.md | kubectl kustomize | kubernetes "eval "$command""
            docs/install.md | kubectl -n understudy create secret generic supervisor-users | kubernetes "eval "$command""
            docs/install.md | kubectl -n understudy create secret generic learner-users | kubernetes "eval "$command""
            docs/install.md | kubectl -n understudy exec | TurnIT "pause"; HelmChartIT "ipAddresses"; unchecked: needs a cluster that runs pods
            docs/install.md | listen: 0.0.0.0:2379 | gateway
            docs/install.md | mkdir overlays/own | kubernetes "eval "$command""
            docs/install.md | mkdir -p secrets | self-check "read_at gateway"; unchecked: needs an engine and the images of others
            docs/install.md | mvn -B -Prelease package | maven; packages "-Prelease"
            docs/install.md | mvn -B package | maven
            docs/install.md | resources: [../production] | yaml; KubernetesManifestsTest "theOverlayThatThePageShowsIsRendered"
            docs/install.md | resources: [../supervised] | KubernetesManifestsTest "theOverlayWithSupervisorsThatThePageShowsIsRendered"
            docs/install.md | sudo -u understudy | ConfigCheckTest "filesAndAddressesAreThoseOfTheStart_allAtOnce"
            docs/install.md | sudo apt install | packages "dpkg --install"
            docs/install.md | sudo systemctl | InstallIT "systemd-analyze"; systemd "systemctl start understudy-supervisor"
            docs/install.md | sudo understudy-VERSION/install.sh | InstallIT "install.sh"
            docs/install.md | { printf | KubernetesManifestsTest "theAlertsMakeAnObjectForThePrometheusOperator"; kubernetes "printf"
            docs/install.md | tar xf | InstallIT "install.sh"

            docs/internals/mirror.md | feed ──► pipeline | unchecked: a drawing
            docs/internals/mirror.md | {"format":1,"source" | checkpoint

            docs/internals/take-over.md | {"format":1,"mirror" | home

            docs/library.md | @RegisterExtension | java; EtcdExtensionIT "behindProxies()"

            docs/operate/cluster.md | $ understudy cluster add m4 | ClusterChangeIT "--dry-run"; MisconfiguredAddIT "etcd-adds"
            docs/operate/cluster.md | $ understudy cluster recover | RecoveryIT "copy-*"
            docs/operate/cluster.md | $ understudy cluster restore | SnapshotIT "restore.restore("
            docs/operate/cluster.md | $ understudy cluster snapshot save | ClusterAuthIT ""snapshot", "save""; SnapshotIT "restore.restore("; SnapshotIT ""snapshot", "verify""
            docs/operate/cluster.md | $ understudy cluster status --config | ClusterStatusIT "3 healthy, 2 needed"
            docs/operate/cluster.md | $ understudy cluster supervise status | SupervisorIT "standby-failover"
            docs/operate/cluster.md | sudo install | systemd "systemd/etcd.service"
            docs/operate/cluster.md | sudo systemctl enable | InstallIT "systemd-analyze"
            docs/operate/cluster.md | cluster:;endpoints: [http | yaml
            docs/operate/cluster.md | cluster:;endpoints: https | yaml; ClusterCreateIT "--peer-client-cert-auth=true"

            docs/operate/disaster-recovery.md | etcdctl --endpoints 127.0.0.1:23791 get /drill | DocumentedEtcdctlIT "etcdctlHasTheCommandAndItsFlags"
            docs/operate/disaster-recovery.md | etcdctl --endpoints 127.0.0.1:23791 put /drill 1 | DocumentedEtcdctlIT "etcdctlHasTheCommandAndItsFlags"
            docs/operate/disaster-recovery.md | etcdctl --endpoints 127.0.0.1:24791 put /drill 2 | DocumentedEtcdctlIT "etcdctlHasTheCommandAndItsFlags"
            docs/operate/disaster-recovery.md | mirrors:;dr: | mirror

            docs/operate/gateway.md | # gateway-1.yaml | gateway
            docs/operate/gateway.md | # patroni.yml | yaml; patroni "etcd3:"
            docs/operate/gateway.md | $ curl -s '127.0.0.1:8080/v1/kv/greeting | RestIT "max_staleness=5s"
            docs/operate/gateway.md | $ curl -s 127.0.0.1:2379/v3/kv/range | JsonMethodsIT "kv/range"; JsonDifferenceIT "kv/range"
            docs/operate/gateway.md | const events | KeyBrowserIT "const events"; RestWatchIT "gap"
            docs/operate/gateway.md | name: gateway-1;source: | gateway
            docs/operate/gateway.md | source: {kafka | gateway
            docs/operate/gateway.md | source:;endpoints: "http://10.0.0.11:2379";mirror: dr | gateway

            docs/operate/kafka.md | {"before" | RecordFormatTest "anEnvelopeIsDebeziums"
            docs/operate/kafka.md | $ kafka-console-consumer.sh | PlainConsumersIT "ConsoleConsumer"
            docs/operate/kafka.md | clusters = core, dr | LocalMirrorMaker "core->dr.enabled=true"; MirrorMakerIT "LocalMirrorMaker"
            docs/operate/kafka.md | mirrors:;log: | mirror
            docs/operate/kafka.md | mirrors:;remote: | mirror
            docs/operate/kafka.md | public static void main | PlainConsumersIT "ReadTopic.java"

            docs/operate/kube-apiserver.md | --etcd-servers=https://10.0.0.1 | KubeApiServer "--etcd-servers="
            docs/operate/kube-apiserver.md | --etcd-servers=https://127 | KubeApiServer "--etcd-servers="
            docs/operate/kube-apiserver.md | apiServer: | yaml
            docs/operate/kube-apiserver.md | install -d | PkiCommandTest "anAuthorityMayHaveAnRsaKey"
            docs/operate/kube-apiserver.md | listen: 127.0.0.1:2378 | gateway
            docs/operate/kube-apiserver.md | name: gateway-1 | gateway
            docs/operate/kube-apiserver.md | systemctl enable | InstallIT "systemd-analyze"

            docs/operate/mirror.md | mirrors:;dr:;source: | mirror
            docs/operate/mirror.md | printf | unchecked: it deletes a checkpoint, which was tried by hand with etcd 3.5.33

            docs/operate/security.md | curl -H "Authorization: $TOKEN" $SOURCE | LeastPrivilegesIT "theDocumentationGrantsTheSame"
            docs/operate/security.md | curl -H "Authorization: $TOKEN" $TARGET | LeastPrivilegesIT "theDocumentationGrantsTheSame"
            docs/operate/security.md | etcdctl user add gateway | LeastPrivilegesIT ""grant-permission", "gateway", "--prefix", "read""
            docs/operate/security.md | etcdctl user add mirror | SecuredCluster ""grant-role", MIRROR, MIRROR"
            docs/operate/security.md | etcdctl user add supervisor | ClusterAuthIT ""user", "grant-role", role, "root""
            docs/operate/security.md | kafka-acls.sh | KafkaPrivilegesIT "AclCommand"
            docs/operate/security.md | sudo install | PkiCommandTest "serversAndClientsKnowEachOtherByTheAuthority"
            docs/operate/security.md | tls: | gateway

            docs/operate/upgrade.md | sudo apt install | packages "restarted by the rollback"
            docs/operate/upgrade.md | sudo understudy-VERSION/bin | ConfigCheckTest "filesAndAddressesAreThoseOfTheStart_allAtOnce"
            docs/operate/upgrade.md | $ understudy cluster roll --to-version | upgrade "roll --to-version"
            docs/operate/upgrade.md | $ understudy cluster downgrade --to-version | upgrade "downgrade --to-version"

            docs/performance.md | deploy/understudy bench cluster | BenchCommandTest "documentedCommandsAreAccepted"
            docs/performance.md | deploy/understudy bench kafka --runs | BenchCommandTest "documentedCommandsAreAccepted"
            docs/performance.md | deploy/understudy bench kafka --work | BenchCommandTest "documentedCommandsAreAccepted"
            docs/performance.md | deploy/understudy bench mirror --work=first | BenchCommandTest "documentedCommandsAreAccepted"
            docs/performance.md | deploy/understudy bench mirror --work=verify | BenchCommandTest "documentedCommandsAreAccepted"
            docs/performance.md | deploy/understudy bench reads | BenchCommandTest "documentedCommandsAreAccepted"
            docs/performance.md | deploy/understudy bench watch | BenchCommandTest "documentedCommandsAreAccepted"
            docs/performance.md | mvn verify -Plong -Dpart=speed -pl gateway | maven
            docs/performance.md | mvn verify -Plong -Dpart=speed -pl mirror | maven

            deploy/dist/src/main/dist/compose/README.md | mkdir | self-check "read_at gateway"; unchecked: needs an engine and the images of others
            deploy/dist/src/main/dist/compose/README.md | docker compose exec | self-check "supervise status"; TurnIT "pause"; unchecked: needs an engine and the images of others
            """);

    boolean isOf(Block block) {
        return block.place().document().equals(Repository.ROOT.resolve(document))
                && block.text()
                        .lines()
                        .map(String::strip)
                        .filter(line -> !line.isEmpty())
                        .collect(Collectors.joining(";"))
                        .startsWith(beginning);
    }

    boolean isBy(String word) {
        return by.contains(word);
    }

    /** The keepers that are files, with the text that each must contain. */
    List<Evidence> evidence() {
        return by.stream()
                .map(EVIDENCE::matcher)
                .filter(Matcher::matches)
                .map(found -> new Evidence(found.group(1), found.group(2)))
                .toList();
    }

    /** Whether the row has a valid decision. */
    boolean isDecided() {
        return !by.isEmpty()
                && by.stream()
                        .allMatch(each -> each.startsWith(UNCHECKED)
                                || EVIDENCE.matcher(each).matches()
                                || List.of(
                                                "gateway",
                                                "mirror",
                                                "checkpoint",
                                                "home",
                                                "java",
                                                "yaml",
                                                "archive",
                                                "maven")
                                        .contains(each));
    }

    /**
     * Where something is run or checked.
     *
     * @param file its name, without {@code .java}, or its path
     */
    record Evidence(String file, String phrase) {

        boolean isThere() {
            return Repository.files().stream()
                    .filter(each -> each.endsWith(file) || each.endsWith(file + ".java"))
                    .anyMatch(each -> Repository.text(each).contains(phrase));
        }
    }

    private static List<Keeping> table(String rows) {
        return rows.lines()
                .filter(row -> !row.isBlank())
                .map(row -> row.split(" \\| ", -1))
                .map(cells -> new Keeping(
                        cells[0],
                        cells[1],
                        Arrays.stream(cells[2].split("; ", -1)).toList()))
                .toList();
    }
}
