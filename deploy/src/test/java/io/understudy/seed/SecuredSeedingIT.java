package io.understudy.seed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.etcd.jetcd.api.AuthDisableRequest;
import io.etcd.jetcd.api.AuthEnableRequest;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.Permission;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A source with authentication gives its snapshot to users with the role root alone. */
final class SecuredSeedingIT {

    private static final ByteString ALL = ByteString.copyFrom(new byte[1]);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @TempDir
    private Path folder;

    private URI url;
    private ManagedChannel channel;
    private AuthGrpc.AuthBlockingStub auth;

    @BeforeEach
    void enableAuthentication() {
        url = SOURCE.cluster().leader().clientUrl();
        channel = NettyChannelBuilder.forAddress(url.getHost(), url.getPort())
                .usePlaintext()
                .build();
        auth = AuthGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS);
        answered(auth.roleAdd(AuthRoleAddRequest.newBuilder().setName("mirror").build()));
        answered(auth.roleGrantPermission(AuthRoleGrantPermissionRequest.newBuilder()
                .setName("mirror")
                .setPerm(Permission.newBuilder()
                        .setPermType(Permission.Type.READWRITE)
                        .setKey(ALL)
                        .setRangeEnd(ALL))
                .build()));
        for (String user : new String[] {"root", "mirror"}) {
            answered(auth.userAdd(AuthUserAddRequest.newBuilder()
                    .setName(user)
                    .setPassword(user)
                    .build()));
            answered(auth.userGrantRole(AuthUserGrantRoleRequest.newBuilder()
                    .setUser(user)
                    .setRole(user)
                    .build()));
        }
        answered(auth.authEnable(AuthEnableRequest.getDefaultInstance()));
    }

    /** The next test finds the members as they are without. */
    @AfterEach
    void disableAuthentication() {
        Metadata token = new Metadata();
        token.put(
                Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER),
                auth.authenticate(AuthenticateRequest.newBuilder()
                                .setName("root")
                                .setPassword("root")
                                .build())
                        .getToken());
        answered(auth.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(token))
                .authDisable(AuthDisableRequest.getDefaultInstance()));
        channel.shutdownNow();
    }

    @Test
    void aUserForAllKeysWithoutRootGetsNoTarget() throws Exception {
        List<URI> unused = List.of(URI.create("http://127.0.0.1:1"));
        Seed seed = new Seed(folder.resolve("dr"), "dr-1", unused, unused, "dr", 1_000);

        assertThatThrownBy(() -> make(seed, url, "mirror")).hasStackTraceContaining("permission denied");
        assertThat(folder.resolve("dr")).doesNotExist();

        make(seed, url, "root");
        assertThat(folder.resolve("dr")).isNotEmptyDirectory();
    }

    private static void make(Seed seed, URI source, String user) throws Exception {
        Credentials credentials = new Credentials(user, user);
        EtcdSettings settings = EtcdSettings.of(source).withLogin(credentials);
        try (EtcdCluster cluster = EtcdCluster.connect(settings, new SimpleMeterRegistry())) {
            new TargetSeeding(EtcdBinaries.find(), credentials, line -> {}).make(cluster, seed, Duration.ofSeconds(30));
        }
    }

    private static void answered(Message answer) {
        assertThat(answer.isInitialized()).isTrue();
    }
}
