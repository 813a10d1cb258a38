package dev.snowlane.spring.boot;

import dev.snowlane.client.ClientObserver;
import java.util.List;

/** Calls several observers. The client ignores what they throw, so an observer that fails must not silence another. */
record ObserverList(List<ClientObserver> observers) implements ClientObserver {

  private interface Call {
    void on(ClientObserver observer);
  }

  private void tell(Call call) {
    RuntimeException first = null;
    for (ClientObserver observer : observers) {
      try {
        call.on(observer);
      } catch (RuntimeException failed) {
        first = first == null ? failed : first;
      }
    }
    if (first != null) throw first;
  }

  @Override
  public void onAttempt(AttemptEvent event) {
    tell(observer -> observer.onAttempt(event));
  }

  @Override
  public void onRefill(RefillEvent event) {
    tell(observer -> observer.onRefill(event));
  }

  @Override
  public void onWait(WaitEvent event) {
    tell(observer -> observer.onWait(event));
  }

  @Override
  public void onExpire(ExpireEvent event) {
    tell(observer -> observer.onExpire(event));
  }

  @Override
  public void onState(StateEvent event) {
    tell(observer -> observer.onState(event));
  }
}
