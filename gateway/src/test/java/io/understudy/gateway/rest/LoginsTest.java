package io.understudy.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.gateway.caller.Principal;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LoginsTest {

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = vertx.getOrCreateContext();
    private final Promise<byte[]> token = Promise.promise();
    private final Logins logins = new Logins(request -> token.future());

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void oneClientLeavesPlacesToOthers() throws Exception {
        for (int i = 0; i < 4; i++) {
            assertThat(login("one", i)).isNotDone();
        }
        assertThat(login("one", 4))
                .failsWithin(10, TimeUnit.SECONDS)
                .withThrowableThat()
                .withMessageContaining("too many requests");
        CompletableFuture<Principal> other = login("another", 5);
        assertThat(other).isNotDone();
        token.complete(new byte[0]);
        assertThat(other).succeedsWithin(10, TimeUnit.SECONDS);
        assertThat(login("one", 6)).succeedsWithin(10, TimeUnit.SECONDS);
    }

    private CompletableFuture<Principal> login(String client, int user) throws Exception {
        String both = Base64.getEncoder().encodeToString(("user" + user + ":p").getBytes(StandardCharsets.UTF_8));
        CompletableFuture<Future<Principal>> begun = new CompletableFuture<>();
        loop.runOnContext(now -> begun.complete(logins.principal("Basic " + both, Principal.ANONYMOUS, client)));
        return begun.get(10, TimeUnit.SECONDS).toCompletionStage().toCompletableFuture();
    }
}
