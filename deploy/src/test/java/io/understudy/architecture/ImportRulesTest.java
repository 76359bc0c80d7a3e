package io.understudy.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each package imports only what the table lists beside it.
 *
 * <p>So the gateway and the mirror never meet, Vert.x stays in the gateway, Kafka's clients in the mirror's Kafka part
 * and in the lab, and the broker's classes nowhere.
 */
final class ImportRulesTest {

    private static final String OURS = "io.understudy";

    /**
     * The package, then its allowed imports besides itself, the JDK's {@code java} packages and null annotations.
     *
     * <p>A leading dot is {@code io.understudy}; a name covers what is below it, and the longest name that covers a
     * package applies.
     */
    private static final Map<String, List<String>> TABLE = table("""
            .vocabulary         com.google.protobuf
            .config             com.fasterxml.jackson org.slf4j org.yaml
            .metrics            io.micrometer
            .health             .vocabulary .tls com.sun.net.httpserver javax.net.ssl
            .tls                .vocabulary .config .metrics com.google.common io.micrometer io.netty javax.naming javax.net.ssl
            .tls                javax.security org.slf4j
            .etcd               .vocabulary .config .metrics .tls com.google.protobuf io.etcd.jetcd.api io.grpc
            .etcd               io.micrometer io.netty org.slf4j
            .feed               .vocabulary .metrics io.micrometer
            .feed.etcd          .vocabulary .feed .etcd .config .metrics com.google.common com.google.protobuf
            .feed.etcd          io.etcd.jetcd.api io.grpc io.micrometer org.slf4j
            .kafka              .config javax.net.ssl org.apache.kafka.clients org.apache.kafka.common org.slf4j
            .consumer           org.apache.kafka.clients org.apache.kafka.common org.slf4j
            .consumer.format    org.apache.kafka.clients org.apache.kafka.common org.slf4j
            .feed.kafka         .consumer.format .vocabulary .feed .kafka .config .metrics com.google.protobuf io.micrometer
            .feed.kafka         com.fasterxml.jackson org.apache.kafka.clients org.apache.kafka.common org.slf4j

            .local.process      org.slf4j
            .local.fault        org.slf4j
            .local.certificate  javax.net.ssl org.bouncycastle
            .local.fuzz         .local.process
            .local.binary       .local.process
            .local.etcd         .local.binary .local.certificate .local.process .local.fault com.fasterxml.jackson org.slf4j
            .local.kafka        .local.certificate .local.process .local.fault org.slf4j
            .local.container    .local.process .local.kafka com.github.dockerjava org.testcontainers org.slf4j
            .local.junit        .local org.awaitility org.junit.jupiter org.junit.platform org.opentest4j org.slf4j

            .gateway            .health .vocabulary .feed .kafka .etcd .config .metrics .tls com.google.protobuf io.etcd.jetcd.api
            .gateway            io.grpc io.micrometer io.vertx org.slf4j
            .gateway.server     .gateway.api .gateway.caller .health .gateway.read .config .tls
            .gateway.server     .gateway.metrics .metrics com.github.benmanes.caffeine com.google.protobuf io.grpc io.micrometer io.netty io.vertx
            .gateway.server     com.sun.management org.slf4j
            .gateway.read       .metrics .gateway.metrics .gateway.api .gateway.caller .gateway.replica .vocabulary .etcd .config
            .gateway.read       com.google.protobuf io.etcd.jetcd.api io.grpc io.micrometer io.vertx org.slf4j
            .gateway.json       .gateway.api .gateway.caller .gateway.read .gateway.replica .gateway.server .etcd .tls
            .gateway.json       com.google.protobuf io.etcd.jetcd.api io.grpc io.netty.buffer io.netty.util io.vertx.core
            .gateway.json       io.netty.handler.codec.http org.slf4j com.fasterxml.jackson.core
            .gateway.rest       .gateway.api .gateway.caller .health .gateway.json .gateway.read .gateway.replica
            .gateway.rest       .config .vocabulary com.google.protobuf io.etcd.jetcd.api io.grpc io.netty io.vertx
            .gateway.rest       .gateway.page .gateway.server
            .gateway.rest       .gateway.hub .gateway.permission .tls com.github.benmanes.caffeine io.micrometer org.slf4j
            .gateway.api        .gateway.replica .etcd .vocabulary com.google.protobuf io.etcd.jetcd.api io.grpc io.netty.buffer
            .gateway.caller     .vocabulary .tls .gateway.api io.grpc io.vertx.core javax.net javax.security org.slf4j
            .gateway.permission .metrics .gateway.metrics .gateway.api .gateway.caller .vocabulary .etcd .config com.github.benmanes.caffeine
            .gateway.permission com.google.protobuf io.etcd.jetcd.api io.grpc io.micrometer io.netty.channel io.netty.util
            .gateway.permission io.vertx.core org.slf4j
            .gateway.forward    .metrics .gateway.metrics .gateway.api .gateway.caller .etcd .config com.google.protobuf io.etcd.jetcd.api
            .gateway.forward    .vocabulary io.grpc io.micrometer io.vertx.core org.slf4j
            .gateway.dashboard  .metrics .gateway.metrics .gateway.member .health .vocabulary .etcd .config .tls io.micrometer io.vertx.core org.slf4j
            .gateway.rest       .gateway.dashboard .gateway.member
            .gateway.member     .gateway.api .health .gateway.replica .etcd .vocabulary .config io.etcd.jetcd.api
            .gateway.member     com.google.protobuf
            .gateway.replica    .vocabulary .feed .config com.google.protobuf org.slf4j
            .gateway.verify     .gateway.replica .vocabulary .feed .etcd .config com.google.protobuf io.etcd.jetcd.api
            .gateway.verify     io.grpc org.slf4j
            .gateway.hub        .metrics .gateway.metrics .gateway.replica .vocabulary .config com.google.protobuf io.micrometer io.netty.buffer
            .gateway.hub        io.netty.util org.slf4j
            .gateway.watch      .gateway.api .gateway.caller .gateway.hub .gateway.server .vocabulary com.google.protobuf
            .gateway.watch      io.etcd.jetcd.api io.grpc io.micrometer io.netty.buffer io.netty.util io.vertx.core
            .gateway.watch      .metrics .gateway.metrics .gateway.permission org.slf4j
            .gateway.history    .gateway.hub .gateway.replica .feed .etcd .vocabulary com.google.protobuf org.slf4j
            .gateway.metrics    .metrics io.micrometer
            .gateway.trace      .metrics .gateway.metrics .gateway.read .config .tls io.grpc io.micrometer io.netty.util
            .gateway.trace      io.opentelemetry javax.net.ssl org.slf4j
            .gateway.server     .gateway.trace
            .gateway.json       .gateway.trace
            .gateway.rest       .gateway.trace
            .gateway.page

            .mirror             .vocabulary .feed .kafka .etcd .config .metrics .tls com.google.protobuf io.micrometer
            .mirror             io.etcd.jetcd.api org.slf4j
            .mirror.takeover    .mirror .vocabulary .etcd .feed .feed.etcd com.fasterxml.jackson com.google.protobuf
            .mirror.takeover    io.etcd.jetcd.api io.grpc io.micrometer org.slf4j
            .mirror.status      .health .metrics .mirror.pipeline .mirror.checkpoint .mirror.revisions .mirror.verify .vocabulary
            .mirror.status      .mirror.auth .mirror.takeover .tls com.fasterxml.jackson com.google.protobuf com.sun.net.httpserver javax.net.ssl org.slf4j
            .mirror.pipeline    .mirror.metrics .mirror.sink .mirror.active .mirror.checkpoint .vocabulary .feed .etcd .metrics
            .mirror.pipeline    io.micrometer org.slf4j
            .mirror.active      .metrics .mirror.metrics .mirror.call .mirror.scope .etcd com.google.protobuf io.etcd.jetcd.api io.micrometer
            .mirror.active      .vocabulary org.slf4j
            .mirror.call        .mirror.sink .vocabulary .etcd io.etcd.jetcd.api io.grpc
            .mirror.etcd        .mirror.sink .mirror.checkpoint .mirror.scope .mirror.lease .vocabulary .feed .etcd .config
            .mirror.etcd        .mirror.home com.google.protobuf io.etcd.jetcd.api io.grpc org.slf4j
            .mirror.kafka       .mirror.sink .mirror.checkpoint .mirror.scope .vocabulary .feed .config
            .mirror.kafka       .kafka .feed.kafka .consumer.format io.micrometer
            .mirror.kafka       com.google.protobuf org.apache.kafka.clients org.apache.kafka.common org.slf4j
            .mirror.sink        .mirror.checkpoint .vocabulary .feed com.google.protobuf
            .mirror.verify      .metrics .mirror.metrics .mirror.revisions .mirror.checkpoint .mirror.scope .vocabulary .feed .etcd .config
            .mirror.verify      com.google.protobuf io.etcd.jetcd.api io.micrometer org.slf4j
            .mirror.revisions   .mirror.call .mirror.checkpoint .mirror.scope .vocabulary .etcd com.google.protobuf
            .mirror.revisions   .mirror.home io.etcd.jetcd.api org.slf4j
            .mirror.lease       .metrics .mirror.metrics .mirror.call .mirror.sink .mirror.checkpoint .mirror.scope .vocabulary .feed .etcd
            .mirror.lease       .mirror.home com.google.protobuf io.etcd.jetcd.api io.micrometer org.slf4j
            .mirror.auth        .metrics .mirror.metrics .mirror.call .mirror.scope .vocabulary .etcd .config com.google.protobuf
            .mirror.auth        io.etcd.jetcd.api io.grpc io.micrometer org.slf4j
            .mirror.home        .mirror.checkpoint .mirror.scope .vocabulary .etcd com.fasterxml.jackson com.google.protobuf
            .mirror.home        io.etcd.jetcd.api io.grpc
            .mirror.checkpoint  .mirror.scope .vocabulary com.fasterxml.jackson com.google.protobuf
            .mirror.metrics     .metrics
            .mirror.scope       .vocabulary com.google.protobuf

            .report
            .reference          .metrics .gateway.metrics .mirror.metrics .cluster.metrics
            .lab                .cluster .etcd .pki .tls .report .local com.fasterxml.jackson io.micrometer javax.net.ssl
            .lab                .vocabulary com.google.protobuf io.etcd.jetcd.api io.grpc org.slf4j
            .lab.check          .lab.failure .lab.plan .etcd com.google.protobuf io.etcd.jetcd.api io.grpc
            .lab.check          .mirror.home .mirror.scope .vocabulary
            .lab.check          org.apache.kafka.clients org.apache.kafka.common org.slf4j
            .cluster            .health .vocabulary .etcd .config .metrics .tls .local .report com.fasterxml.jackson
            .cluster            javax.net.ssl com.google.protobuf com.sun.net.httpserver com.sun.nio.file io.etcd.jetcd.api io.grpc io.micrometer org.slf4j
            .pki                .tls javax.security org.bouncycastle
            .seed               .cluster.run .cluster.snapshot .mirror.takeover .mirror.scope .vocabulary .etcd .local com.google.protobuf
            .seed               io.etcd.jetcd.api io.grpc io.micrometer
            .cli                .cluster .lab .gateway .mirror .config .report .vocabulary .local.binary .local.process
            .cli                .metrics .reference .seed .pki .tls .etcd .kafka .feed.etcd io.micrometer com.fasterxml.jackson me.tongfei.progressbar picocli
            """);

    private static final JavaClasses PRODUCTION = CompiledClasses.ofProduction();

    static Stream<String> packages() {
        return CompiledClasses.packagesOf(PRODUCTION);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void aPackageImportsOnlyWhatTheTableAllows(String packageName) {
        String row = TABLE.keySet().stream()
                .filter(each -> covers(each, packageName))
                .max(Comparator.comparing(String::length))
                .orElseThrow(() -> new AssertionError("the table has no row for " + packageName));
        List<String> allowed = TABLE.get(row);
        classes()
                .that()
                .resideInAPackage(packageName)
                .should()
                .onlyDependOnClassesThat(describe(
                        "reside in " + row + " or in one of " + allowed,
                        imported -> isOf(row, imported) || allowed.stream().anyMatch(each -> isOf(each, imported))))
                .check(PRODUCTION);
    }

    @Test
    void packagesDependOnEachOtherInOneDirectionOnly() {
        slices().matching(OURS + ".(**)").should().beFreeOfCycles().check(PRODUCTION);
    }

    @Test
    void theTableNamesNoPackageThatIsGone() {
        List<String> present = packages().toList();
        assertThat(TABLE.keySet()).isSubsetOf(present);
    }

    private static boolean isOf(String name, JavaClass type) {
        return covers(name, type.getBaseComponentType().getPackageName());
    }

    private static boolean covers(String row, String packageName) {
        return packageName.equals(row) || packageName.startsWith(row + ".");
    }

    private static Map<String, List<String>> table(String rows) {
        return rows.lines()
                .filter(row -> !row.isBlank())
                .map(row -> Arrays.stream(row.split(" +"))
                        .map(name -> name.startsWith(".") ? OURS + name : name)
                        .toList())
                .collect(toMap(
                        names -> names.get(0),
                        names -> Stream.concat(names.stream().skip(1), Stream.of("java", "org.jspecify"))
                                .toList(),
                        (some, more) ->
                                Stream.concat(some.stream(), more.stream()).toList()));
    }
}
